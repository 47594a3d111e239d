#if CommandLine
    import Recollect

    /// Hits of a search as people read them.
    extension StoreOptions {
        /// Two lines for each hit, the best first: where it is and what it says, with its words marked.
        func lines(
            of page: Page<SearchHit, SearchCursor>, in history: any HistoryStore, style: Style
        ) async throws -> [String] {
            guard !page.elements.isEmpty else { return ["Nothing found."] }
            let format = Format()
            let sessions = try await names(of: Set(page.elements.map(\.conversation)), in: history)
            let lines = page.elements.flatMap { hit in
                let session = sessions[hit.conversation] ?? (hit.conversation.sessionId, "")
                let who = "\(hit.role.rawValue.oneLine) \(style.dim(hit.agentId.oneLine))"
                let snippet = hit.snippet.runs.map { run in
                    let text = run.text.visible.replacingOccurrences(of: "\n", with: " ")
                    return run.isMatch ? (style.isOn ? style.match(text) : "«\(text)»") : text
                }
                let title = style.dim(session.title.cut(to: 60))
                let heading =
                    "\(style.cyan(session.shortId.oneLine))  \(who)  \(format.short(hit.timestamp))  \(title)"
                return [heading, "    \(snippet.joined())", ""]
            }
            return page.next == nil ? lines.dropLast() : lines
        }

        /// How sessions are found again, and what they are called.
        private func names(
            of sessions: Set<ConversationID>, in history: any HistoryStore
        ) async throws -> [ConversationID: (shortId: String, title: String)] {
            var names: [ConversationID: (shortId: String, title: String)] = [:]
            for id in sessions {
                let title = try await history.conversation(id)?.displayTitle ?? ""
                names[id] = (try await shortId(of: id.sessionId, in: history), title.oneLine)
            }
            return names
        }
    }
#endif
