// Code with Apple's frameworks: the workspace in iCloud Documents. Each other file is in a conditional-compilation
// block as a whole, so on other platforms this target is empty.

@_exported import RecollectWorkspace
