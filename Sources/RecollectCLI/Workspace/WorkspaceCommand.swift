#if CommandLine
    import ArgumentParser

    struct WorkspaceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "workspace",
            abstract:
                "Manage files shared by you and your agents: read, write, restore and watch them, and resolve conflicts.",
            discussion: """
                The workspace is one folder: --root, or the environment variable RECOLLECT_WORKSPACE, or by default \
                Recollect/Workspace in the folder for application data. A sync service may sync it to other devices. Each \
                write specifies the version that it replaces, and replaced versions are kept in an archive on this device.

                Files with names that some systems or sync services reject or skip (what?.md, .hidden, ~x.tmp) are ignored.

                PATH is relative to the folder, with / between names: Journal/user/2026-02-03.md.
                """,
            subcommands: [
                WorkspaceInitCommand.self, WorkspaceStatusCommand.self, WorkspaceListCommand.self,
                WorkspaceCatCommand.self, WorkspaceWriteCommand.self, WorkspaceMoveCommand.self,
                WorkspaceDeleteCommand.self, WorkspaceTrashCommand.self, WorkspaceVersionsCommand.self,
                WorkspaceRestoreCommand.self, WorkspaceRedactCommand.self, WorkspaceJournalCommand.self,
                WorkspaceResolveCommand.self,
                WorkspaceRecoverCommand.self, WorkspaceWatchCommand.self,
            ])
    }
#endif
