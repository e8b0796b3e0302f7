package cmd

import "github.com/spf13/cobra"

// helpTopics returns the help pages that do not describe a command.
func helpTopics() []*cobra.Command {
	return []*cobra.Command{
		{
			Use:   "exit-codes",
			Short: "What the exit codes mean",
			Long: `Exit codes

  0    all trails passed or were skipped
  1    at least one trail failed
  2    infrastructure: a server or device could not be started or broke, a runtime is missing, a trail ended as error
  3    misuse: flags, config files, trail files
  4    nothing matched
  124  --timeout was reached
  130  interrupted (Ctrl-C, hang-up)
  143  terminated

When several apply the worst wins: 2, then 3, then 1, then 0. What ended the run from outside (124, 130, 143) wins over all.`,
		},
		{
			Use:   "environment",
			Short: "Environment variables that are read, and those that servers get",
			Long: `Read by trailblaze; a flag wins over its variable, a variable over the project file

  TRAILBLAZE_PROJECT     project root (--project)
  TRAILBLAZE_TARGET      target (--target)
  TRAILBLAZE_DRIVER      driver (--driver)
  TRAILBLAZE_RUNTIME     JavaScript runtime: bun, node or embedded (--runtime)
  TRAILBLAZE_CACHE_DIR   absolute path of the folder for bundles, versions of runtimes and the state file (default: the user's cache folder)
  NO_COLOR, TERM, CI     no colour and no live lines when NO_COLOR is not empty, TERM is dumb, or CI is set
  HTTP_PROXY, HTTPS_PROXY, NO_PROXY
                         proxy for servers with a url, never for this machine
  SSL_CERT_FILE          certificate authorities to trust there (Linux)

Set for every server that is started; a public contract

  TRAILBLAZE_DEVICE_PLATFORM                       ANDROID, IOS or WEB
  TRAILBLAZE_DEVICE_DRIVER                         key of the driver
  TRAILBLAZE_DEVICE_WIDTH_PX, _HEIGHT_PX           size of the device in pixels, 0 when unknown
  TRAILBLAZE_SESSION_ID                            id of the session
  TRAILBLAZE_TOOLSET_FILE                          absolute path of the script (scripts only)
  TRAILBLAZE_BASE_URL, TRAILBLAZE_CALLBACK_URL,    where its tools can call others: http://127.0.0.1:<port>, the same with the path,
  TRAILBLAZE_PORT                                  and the port; absent in listings, as are the next two
  TRAILBLAZE_SESSION_TOKEN                         secret of the session, for the Authorization header of such a call
  TRAILBLAZE_CLIENT_FETCH_TIMEOUT_MS               how long to wait for its answer
  NO_PROXY, no_proxy                               the parent's value with 127.0.0.1,localhost,::1 added

The rest of the environment is inherited, and an entry's own env: comes last.`,
		},
	}
}
