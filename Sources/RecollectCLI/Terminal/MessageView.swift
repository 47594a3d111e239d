#if CommandLine
    import Recollect
    import RecollectTranscripts

    /// A session as lines for a terminal.
    struct MessageView {
        let style: Style
        let columns: Int
        /// Whether long parts are shown in full.
        let isWhole: Bool
        /// Whether the agent is shown beside the role.
        let showsAgents: Bool
        /// The names of agents by ID, shown before the ID.
        let agentNames: [String: String]
        /// Whether the message ID is shown beside the time.
        let showsIds: Bool
        private let format = Format()

        /// The number of lines shown of a long part.
        private static let partLines = 8

        /// Creates a view of a session. Its agents are shown if there are several.
        init(of session: Session, style: Style, columns: Int, isWhole: Bool, showsIds: Bool = false) {
            self.style = style
            self.columns = columns
            self.isWhole = isWhole
            showsAgents = session.agentIds.count > 1
            agentNames = session.agentNames
            self.showsIds = showsIds
        }

        /// Returns the title, the ID and the details of a session.
        func head(of session: Session) -> [String] {
            var facts = [Format.count(session.messageCount, "message")]
            if showsAgents { facts.append(Format.count(session.agentIds.count, "agent")) }
            let usage = session.usage
            if usage.total > 0 {
                facts.append("\(Format.tokens(usage.input)) in / \(Format.tokens(usage.output)) out tokens")
            }
            facts.append("\(format.full(session.createdAt)) to \(format.full(session.lastActivityAt))")
            let location = [session.workingDirectory, session.branchName].compactMap { $0?.oneLine }
            let states = states(of: session)
            return [
                style.bold(session.displayTitle.oneLine.cut(to: columns)),
                style.dim(session.id.sessionId.oneLine), style.dim(facts.joined(separator: ", ")),
            ] + (location.isEmpty ? [] : [style.dim(location.joined(separator: " on "))])
                + (states.isEmpty ? [] : [style.yellow(states.joined(separator: ", "))])
        }

        /// Returns a line about the compaction of the messages above.
        func line(of compaction: Compaction) -> String {
            let above = Format.count(compaction.messageCount, "message")
            let origin =
                "\(above) above summarized by \(compaction.author.oneLine), \(format.full(compaction.createdAt))"
            return style.dim("— \(origin): \(compaction.summary.oneLine)".cut(to: columns))
        }

        /// Returns the tags and marks of a session.
        private func states(of session: Session) -> [String] {
            var states = session.tags.map(\.oneLine)
            if !states.isEmpty { states = ["tagged \(states.joined(separator: " "))"] }
            if session.isPinned { states.append("pinned") }
            if session.isArchived { states.append("archived") }
            if session.isUnread { states.append("unread") }
            if let date = session.discardedAt { states.append("discarded \(format.full(date))") }
            if let point = session.branchPoint { states.append("a branch of \(point.sessionId.oneLine)") }
            return states
        }

        /// Returns the lines of a message: role, agent and time, then its parts.
        func lines(of stored: StoredMessage) -> [String] {
            let message = stored.message
            let agent = showsAgents ? " \(name(of: stored.agentId))" : ""
            let who = "\(message.role.rawValue.oneLine)\(agent)"
            var facts = [format.full(message.timestamp)]
            if showsIds { facts.append(message.id.oneLine) }
            var heading = "\(painted(who, as: message.role))  \(style.dim(facts.joined(separator: "  ")))"
            if message.isStreaming { heading += "  \(style.yellow("still being written"))" }
            if message.isInterrupted { heading += "  \(style.yellow("interrupted"))" }
            let body = message.parts.flatMap(lines(of:))
            return [heading] + (body.isEmpty ? [style.dim("  (\(label(of: message)))")] : body)
        }

        private func name(of agentId: String) -> String {
            guard let name = agentNames[agentId]?.oneLine, !name.isEmpty else { return agentId.oneLine }
            return "\(name.cut(to: 60)) (\(agentId.oneLine))"
        }

        /// Returns the description of a message without readable content.
        private func label(of message: ConversationMessage) -> String {
            message.metadata["claudeCode"]?["subtype"]?.stringValue?.oneLine ?? "no readable content"
        }

        private func painted(_ who: String, as role: Role) -> String {
            switch role {
            case .user: style.bold(style.green("▌ \(who)"))
            case .assistant: style.bold(style.cyan("▌ \(who)"))
            default: style.yellow("▌ \(who)")
            }
        }

        private func lines(of part: ContentPart) -> [String] {
            switch part {
            case .text(let text): return Self.lines(of: text)
            case .audioTranscript(let text): return block("audio transcript", text, limit: .max)
            case .thinking(let text, _): return text.isEmpty ? [] : block("thinking", text)
            case .toolCall(_, let name, let arguments): return block("calls \(name.oneLine)", readable(arguments))
            case .toolResult(_, let content): return block("result", content.readable)
            case .attachment(let attachment): return [style.dim("  \(described(attachment))")]
            case .unknown(let value): return block("other", value.jsonString)
            }
        }

        /// Returns the arguments, one per line, strings without quotation marks.
        private func readable(_ arguments: JSONValue) -> String {
            guard case .object(let members) = arguments else { return arguments.jsonString }
            return members.sorted { $0.key < $1.key }
                .map { "\($0.key): \($0.value.stringValue ?? $0.value.jsonString)" }
                .joined(separator: "\n")
        }

        private func described(_ attachment: Attachment) -> String {
            let size =
                switch attachment.content {
                case .inline(let bytes): Format.bytes(Int64(bytes.count))
                case .stored(_, let count): Format.bytes(Int64(count))
                case .remote(let url): url.oneLine
                }
            let name = attachment.name.map { "\($0.oneLine), " } ?? ""
            return "attachment: \(name)\(attachment.mediaType.oneLine), \(size)"
        }

        /// Returns the lines of a string, without the blank lines around it.
        private static func lines(of text: String) -> [String] {
            let lines = text.visible.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            let first = lines.firstIndex { !$0.allSatisfy(\.isWhitespace) } ?? lines.endIndex
            let last = lines.lastIndex { !$0.allSatisfy(\.isWhitespace) } ?? first
            return first == lines.endIndex ? [] : Array(lines[first...last])
        }

        /// Returns indented lines under a name, shortened unless the view is in full.
        private func block(_ name: String, _ text: String, limit: Int = partLines) -> [String] {
            let lines = Self.lines(of: text)
            let shown = isWhole ? lines[...] : lines.prefix(limit)
            let body = shown.map { line in
                style.dim("  │ \(isWhole ? line : line.cut(to: max(20, columns - 5)))")
            }
            let more = lines.count - shown.count
            let rest = more > 0 ? [style.dim("  │ … \(Format.count(more, "more line")) (--full)")] : []
            return ["  \(style.yellow(name))"] + body + rest
        }
    }
#endif
