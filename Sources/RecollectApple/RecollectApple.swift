/// Re-exports the workspace, with a provider for iCloud Documents on Apple's platforms. Each other file is in a
/// conditional-compilation block as a whole, so this target is empty on other platforms.
@_exported import RecollectWorkspace
