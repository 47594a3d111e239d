#if CommandLine
    import Recollect

    /// What a person sees first of a session that goes on: its title and what was said last.
    struct ChatOpening {
        let chat: Chat

        /// The messages that are shown, and the lines of each.
        private static let (messages, messageLines) = (4, 6)

        /// The lines for a session.
        func lines(of conversation: Conversation) async throws -> [String] {
            let (style, history) = (chat.style, chat.history)
            let short = try await chat.options.shortId(of: conversation.id.sessionId, in: history)
            let title = conversation.displayTitle.oneLine.cut(
                to: max(20, (chat.output.columns ?? 100) - short.columns - 3))
            let last = try await history.messages(
                of: conversation.id, agentId: nil, page: PageRequest(limit: Self.messages, before: nil))
            let view = MessageView(
                style: Style(isOn: false), columns: chat.output.columns ?? 100, isWhole: false,
                showsAgents: conversation.agents.count > 1)
            var lines = ["\(style.bold(title))  \(style.dim(short.oneLine))"]
            if last.next != nil { lines.append(style.dim("…")) }
            for stored in last.elements {
                let shown = view.lines(of: stored)
                lines += shown.prefix(Self.messageLines).map(style.dim)
                if shown.count > Self.messageLines { lines.append(style.dim("…")) }
            }
            return lines
        }

        /// The line that tells who answers and how to find out more.
        var hint: String {
            let names = chat.team.agents.map(\.name.oneLine)
            let who =
                names.count > 1
                ? "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "") answer"
                : "\(names.first ?? "") answers"
            return chat.style.dim("\(who). /help tells the commands; Ctrl-D leaves.")
        }
    }
#endif
