// Package studio serves one page over a live session: people record by acting on the picture of the screen, edit, replay,
// repair, save, and look back at finished sessions (specification, section 19).
package studio
