#if CommandLine
    import ArgumentParser

    struct WorkspaceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "workspace",
            abstract:
                "Shared files of you and your agents: list, read, write, restore, journals, conflicts, recovery, changes.",
            discussion: """
                The workspace is one folder: --root, the environment variable RECOLLECT_WORKSPACE, or Recollect/Workspace in the \
                folder for application data. A sync service may carry it to other devices. A write names the version it replaces, and \
                replaced versions stay in an archive on this device.

                Names refused or skipped by some system or sync service (what?.md, .hidden, ~x.tmp) are left out.

                PATH is relative to the folder, with / between names: Journal/user/2026-02-03.md.
                """,
            subcommands: [
                WorkspaceInitCommand.self, WorkspaceStatusCommand.self, WorkspaceListCommand.self,
                WorkspaceCatCommand.self, WorkspaceWriteCommand.self, WorkspaceMoveCommand.self,
                WorkspaceDeleteCommand.self, WorkspaceTrashCommand.self, WorkspaceVersionsCommand.self,
                WorkspaceRestoreCommand.self, WorkspaceJournalCommand.self, WorkspaceResolveCommand.self,
                WorkspaceRecoverCommand.self, WorkspaceWatchCommand.self,
            ])
    }
#endif
