#if CommandLine
    import Recollect

    /// A table of sessions for a terminal.
    struct SessionTable {
        let style: Style
        /// The columns of the screen; `nil` without a screen.
        let columns: Int?

        /// Returns a line of headings and a line for each session.
        func lines(_ sessions: [(session: Session, shortId: String)]) -> [String] {
            let format = Format()
            var table = Table(columns: [
                .init(heading: "SESSION", paint: style.cyan), .init(heading: "LAST ACTIVITY"),
                .init(heading: "", needsContent: true, paint: style.yellow),
                .init(heading: "TAGS", isOptional: true, needsContent: true, paint: style.green),
                .init(heading: "TOKENS", isRight: true, isOptional: true, needsContent: true),
                .init(heading: "MESSAGES", isRight: true, isOptional: true),
                .init(heading: "AGENTS", isOptional: true, needsContent: true),
                .init(heading: "FOLDER", isOptional: true, needsContent: true, paint: style.dim),
                .init(heading: "BRANCH", isOptional: true, needsContent: true, paint: style.dim),
                .init(heading: "TITLE", paint: style.bold),
            ])
            table.rows = sessions.map { session, shortId in
                [
                    shortId.oneLine, format.short(session.lastActivityAt), session.marks,
                    session.tags.map(\.oneLine).joined(separator: ", ").cut(to: 16),
                    session.usage.short, Format.grouped(session.messageCount), Self.agents(of: session),
                    Self.folder(of: session).oneLine.cut(to: 24),
                    (session.branchName ?? "").oneLine.cut(to: 20),
                    session.displayTitle.oneLine,
                ]
            }
            return table.lines(style: style, width: columns)
        }

        private static func folder(of session: Session) -> String {
            session.workingDirectory.map { $0.split(separator: "/").last.map(String.init) ?? $0 } ?? ""
        }

        /// Returns the first agent, and the number of other agents.
        private static func agents(of session: Session) -> String {
            guard let first = session.agentIds.first?.oneLine.cut(to: 16) else { return "" }
            let others = session.agentIds.count - 1
            return others > 0 ? "\(first) +\(others)" : first
        }
    }

    extension Session {
        /// The marks in a list: `P` pinned, `U` unread, `A` archived.
        var marks: String {
            (isPinned ? "P" : "") + (isUnread ? "U" : "") + (isArchived ? "A" : "")
        }
    }

    extension TokenUsage {
        /// The input and output tokens: `12.3k/4.5k`; empty if unknown.
        var short: String {
            total > 0 ? "\(Format.tokens(input))/\(Format.tokens(output))" : ""
        }
    }
#endif
