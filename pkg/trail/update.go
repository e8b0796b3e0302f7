package trail

import "github.com/trailblaze/trailblaze/pkg/fault"

// Update returns data, a trail file, with the recordings for one classifier changed to those of recorded. Every other
// byte is unchanged: recordings for other classifiers, config, comments, quotes, empty lines, line ends. In the list
// shape the classifier is ignored.
//
// Steps are matched by kind and text, in order. Every step of the file must be in recorded. Steps that the file lacks
// are inserted after the step that precedes them in recorded. In a step whose calls have changed, calls that are equal
// and in the same order keep their lines. A step of recorded without a recording leaves the file's calls as they are.
// Values of config.Memory that the file lacks are added; it is an error when the file has another value.
//
// With overwrite, steps that are not in recorded are removed, and the order becomes that of recorded. A trailhead is
// kept unless recorded has one. The error is the fault.Problems of data, or a *fault.Error.
func Update(name string, data []byte, classifier string, recorded *File, overwrite bool) ([]byte, error) {
	return nil, fault.New(fault.Bug, "save into a new file", "%s: existing files cannot be updated yet", name)
}

// SetMetadata returns data, a trail file, with a key of config.metadata set to value, or removed when value is nil.
// Every other byte is unchanged. The error is the fault.Problems of data, or a *fault.Error.
func SetMetadata(name string, data []byte, key string, value any) ([]byte, error) {
	return nil, fault.New(fault.Bug, "save into a new file", "%s: existing files cannot be updated yet", name)
}
