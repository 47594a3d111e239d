#if CommandLine
    import Recollect

    /// Search hits as lines for people.
    extension StoreOptions {
        /// Returns two lines and an empty one for each hit, the best hit first: its session and author, and its
        /// text with the matches marked. Hits without some of the words have a heading, and name them. The first line
        /// names corrected words.
        func lines(
            of page: Page<SearchHit, SearchCursor>, in history: any HistoryStore, style: Style
        ) async throws -> [String] {
            guard !page.elements.isEmpty else { return ["Nothing found."] }
            let format = Format()
            let sessions = try await names(of: Set(page.elements.map(\.session)), in: history)
            let firstIncomplete = page.elements.firstIndex { !$0.missingWords.isEmpty }
            var corrections: [String: String] = [:]
            for hit in page.elements { corrections.merge(hit.correctedWords) { first, _ in first } }
            let corrected = corrections.sorted { $0.key < $1.key }.map { "“\($0.oneLine)” to “\($1.oneLine)”" }
            let top = corrected.isEmpty ? [] : [style.dim("Corrected \(corrected.joined(separator: ", ")).\n")]
            let lines = page.elements.enumerated().flatMap { index, hit in
                let session = sessions[hit.session] ?? (hit.session.sessionId, "")
                let who = "\(hit.role.rawValue.oneLine) \(style.dim(hit.agentId.oneLine))"
                let snippet = hit.snippet.runs.map { run in
                    let text = run.text.visible.replacingOccurrences(of: "\n", with: " ")
                    return run.isMatch ? (style.isOn ? style.match(text) : "«\(text)»") : text
                }
                let title = style.dim(session.title.cut(to: 60))
                let heading =
                    "\(style.cyan(session.shortId.oneLine))  \(who)  \(format.short(hit.timestamp))  \(title)"
                let note =
                    index == firstIncomplete
                    ? [style.dim("Messages with some of these words, or next to them:"), ""] : []
                let missing = hit.missingWords.map { "“\($0.oneLine)”" }.joined(separator: ", ")
                let without = missing.isEmpty ? [] : [style.dim("    without \(missing)")]
                return note + [heading, "    \(snippet.joined())"] + without + [""]
            }
            return top + (page.next == nil ? lines.dropLast() : lines)
        }

        /// Returns the short IDs and the titles of sessions.
        private func names(
            of sessions: Set<SessionKey>, in history: any HistoryStore
        ) async throws -> [SessionKey: (shortId: String, title: String)] {
            var names: [SessionKey: (shortId: String, title: String)] = [:]
            for id in sessions {
                let title = try await history.session(id)?.displayTitle ?? ""
                names[id] = (try await shortId(of: id.sessionId, in: history), title.oneLine)
            }
            return names
        }
    }
#endif
