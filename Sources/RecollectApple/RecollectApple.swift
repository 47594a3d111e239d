// What needs Apple's frameworks: the workspace in iCloud Documents. Each other file here is fenced whole, so that elsewhere this
// target is empty.

@_exported import RecollectWorkspace
