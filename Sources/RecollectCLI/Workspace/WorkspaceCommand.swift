#if CommandLine
    import ArgumentParser

    struct WorkspaceCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "workspace",
            abstract:
                "The files that you and your agents share: list, read, write, bring back, keep journals, fold conflicts, recover, watch.",
            discussion: """
                The workspace is one folder: --root, else the environment variable RECOLLECT_WORKSPACE, else Recollect/Workspace \
                in the place for application data. A sync service may keep it the same on other devices. Nothing in it is overwritten unseen: a write \
                says which version it replaces, and what is replaced stays in an archive on this device.

                Names that some system or sync service refuses or skips (what?.md, .hidden, ~x.tmp) are left out.

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
