#if CommandLine
    import Recollect

    /// The first lines of a continued session: its title and its last messages.
    struct ChatBanner {
        let chat: Chat

        /// The number of messages shown, and of lines for each.
        private static let (messages, messageLines) = (4, 6)

        /// Returns the lines for a session.
        func lines(of session: Session) async throws -> [String] {
            let (style, history) = (chat.style, chat.history)
            let short = try await chat.options.shortId(of: session.id.sessionId, in: history)
            let title = session.displayTitle.oneLine.cut(
                to: max(20, (chat.output.columns ?? 100) - short.columns - 3))
            let last = try await history.messages(
                of: session.id, agentId: nil, page: PageRequest(limit: Self.messages, before: nil))
            let view = MessageView(
                of: session, style: Style(isOn: false), columns: chat.output.columns ?? 100, isWhole: false)
            var lines = ["\(style.bold(title))  \(style.dim(short.oneLine))"]
            if last.next != nil { lines.append(style.dim("…")) }
            for stored in last.elements {
                let shown = view.lines(of: stored)
                lines += shown.prefix(Self.messageLines).map(style.dim)
                if shown.count > Self.messageLines { lines.append(style.dim("…")) }
            }
            return lines
        }

        /// A line with the names of the agents and the commands for help and leaving.
        var hint: String {
            let names = chat.team.agents.map(\.name.oneLine)
            let who =
                names.count > 1
                ? "\(names.dropLast().joined(separator: ", ")) and \(names.last ?? "")"
                : names.first ?? ""
            return chat.style.dim("Chatting with \(who). /help lists the commands; Ctrl-D quits.")
        }
    }
#endif
