/// Which messages of a history lie on which pages.
package struct HistoryPages {
    private let pages: DatabasePages
    private var ids: [Int: [String]] = [:]

    package init(_ pages: DatabasePages) {
        self.pages = pages
        // The seventh column of `message` is its id.
        for row in pages.rows(of: "message") where row.columns.count > 6 {
            guard let id = row.columns[6].text else { continue }
            for page in row.pages { ids[page, default: []].append(id) }
        }
        // The fifth of `streaming_reply` is the id of the message that it becomes.
        for row in pages.rows(of: "streaming_reply") where row.columns.count > 4 {
            guard let id = row.columns[4].text else { continue }
            for page in row.pages { ids[page, default: []].append(id) }
        }
    }

    /// The ids of the messages of which at least a part is on a page.
    package func messages(on page: Int) -> [String] { ids[page] ?? [] }
}
