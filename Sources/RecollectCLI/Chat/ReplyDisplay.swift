#if CommandLine
    import Foundation
    import Recollect
    import RecollectTranscripts

    /// Shows a turn while it runs.
    protocol ReplyDisplay: AnyObject {
        /// Shows the next event.
        func show(_ event: AgentEvent) async throws
        /// Ends the display of a turn, after its last event. `failure` is the message of a failed turn.
        func end(failure: String?) async throws
    }

    /// Shows a turn to people, with text as it streams. On a terminal it breaks lines at words, writes the agent's
    /// name above the reply, and dims thinking and tool calls in between. Elsewhere it writes only the reply.
    final class ReplyText: ReplyDisplay {
        /// The kind of text at the end of the current line.
        private enum Section {
            case lineStart, text, thinking
        }

        private let output: Output
        /// The agents' names by their IDs; empty for a single agent.
        private let names: [String: String]
        private var section = Section.lineStart
        /// Breaks lines at words; `nil` without a terminal.
        private var wrap: WordWrap?
        private var hasShownText = false
        private var isInterrupted = false

        init(output: Output, names: [String: String]) {
            self.output = output
            self.names = names
            wrap = Self.wrap(for: output)
        }

        func show(_ event: AgentEvent) async throws {
            switch event {
            case .began(let reply): try await begin(reply)
            case .thinking(let text):
                guard output.isTerminal else { return }
                try await go(to: .thinking)
                try await write(text)
            case .textDelta(let text): try await showText(text)
            case .toolCall(_, let name, let arguments):
                guard output.isTerminal else { return }
                try await go(to: .lineStart)
                let call = "  calls \(name.oneLine)  \(Self.summary(of: arguments))"
                try await output.line(output.style.dim(output.columns.map { call.cut(to: $0 - 1) } ?? call))
            case .toolResult: return
            case .error(let message):
                try await go(to: .lineStart)
                Output.printError("recall: \(message.visible)")
            case .final(let message):
                if !hasShownText { try await showText(message.text) }
                isInterrupted = message.isInterrupted
            }
        }

        func end(failure: String?) async throws {
            try await go(to: .lineStart)
            if let failure {
                Output.printError("recall: \(failure.visible)")
            } else if isInterrupted {
                try await printInterrupted()
            }
        }

        private func begin(_ reply: AgentReply) async throws {
            (hasShownText, isInterrupted) = (false, false)
            // The size of the window may have changed.
            wrap = Self.wrap(for: output)
            guard output.isTerminal, let name = names[reply.agentId] else { return }
            try await output.line(output.style.bold(output.style.cyan("▌ \(name.oneLine)")))
        }

        private func showText(_ text: String) async throws {
            guard !text.isEmpty else { return }
            hasShownText = true
            try await go(to: .text)
            try await write(text)
            if text.hasSuffix("\n") { section = .lineStart }
        }

        private static func wrap(for output: Output) -> WordWrap? {
            output.isTerminal ? WordWrap(columns: Screen.columns(STDOUT_FILENO, atLeast: 2)) : nil
        }

        /// Ends the current line, unless the next text continues it.
        private func go(to next: Section) async throws {
            if section != .lineStart, section != next {
                if let rest = wrap?.finish() { try await put(rest) }
                try await output.line()
            }
            section = next
        }

        private func printInterrupted() async throws {
            guard output.isTerminal else {
                return Output.printError("recall: the reply was interrupted; the received part was saved")
            }
            try await output.line(output.style.yellow("  interrupted"))
        }

        private func write(_ text: String) async throws {
            try await put(wrap?.add(text.visible) ?? text)
        }

        private func put(_ text: String) async throws {
            let shown = section == .thinking ? output.style.dim(text) : text
            try await output.write(Array(shown.utf8))
        }

        /// Returns arguments on one line: `query: tide tables  limit: 5`.
        private static func summary(of arguments: JSONValue) -> String {
            guard case .object(let members) = arguments else { return arguments.readable.oneLine }
            return members.sorted { $0.key < $1.key }
                .map { "\($0.key.oneLine): \(($0.value.stringValue ?? $0.value.jsonString).oneLine)" }
                .joined(separator: "  ")
        }
    }

    /// Shows a turn to programs: one JSON object per line, with the kind of event under `event`.
    final class ReplyJSON: ReplyDisplay {
        private let output: Output
        private var agentId = ""

        init(output: Output) {
            self.output = output
        }

        func show(_ event: AgentEvent) async throws {
            switch event {
            case .began(let reply):
                agentId = reply.agentId
                try await write(
                    "began",
                    [
                        "replyId": .string(reply.id), "agentId": .string(reply.agentId),
                        "inputId": .string(reply.inputId),
                    ])
            case .thinking(let text): try await write("thinking", ["text": .string(text)])
            case .textDelta(let text): try await write("text", ["text": .string(text)])
            case .toolCall(let id, let name, let arguments):
                try await write("toolCall", ["id": .string(id), "name": .string(name), "arguments": arguments])
            case .toolResult(let id, let content):
                try await write("toolResult", ["id": .string(id), "content": content])
            case .error(let message): try await write("error", ["message": .string(message)])
            case .final(let message):
                let stored = StoredMessage(agentId: agentId, cursor: MessageCursor(position: 0), message: message)
                var writer = JSONWriter()
                stored.writeListed(to: &writer)
                try await output.write(
                    Array("{\"event\":\"final\",\"message\":".utf8) + writer.bytes + Array("}\n".utf8))
            }
        }

        func end(failure: String?) async throws {
            if let failure { try await write("failed", ["message": .string(failure)]) }
        }

        /// Writes an event as a JSON object on one line.
        func write(_ event: String, _ members: [String: JSONValue]) async throws {
            try await output.line(JSONValue.object(members.merging(["event": .string(event)]) { $1 }).jsonString)
        }
    }
#endif
