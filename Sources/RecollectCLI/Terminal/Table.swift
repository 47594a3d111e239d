#if CommandLine
    /// Columns under headings, as wide as their content. The last column is cut at the edge of the screen.
    /// Optional columns are left out to make room for it, from the right.
    struct Table {
        struct Column {
            var heading: String
            var isRight = false
            /// Whether the column may be left out if the last one would get too narrow.
            var isOptional = false
            /// Whether the column is left out if it is empty in all rows.
            var needsContent = false
            var paint: (String) -> String = { $0 }
        }

        var columns: [Column]
        var rows: [[String]] = []

        /// Returns the lines of the table.
        func lines(style: Style, width: Int?) -> [String] {
            let widths = columns.indices.map { index in
                rows.reduce(columns[index].heading.columns) { max($0, $1[index].columns) }
            }
            var shown = columns.indices.filter { index in
                !columns[index].needsContent || rows.contains { !$0[index].isEmpty }
            }
            func before() -> Int { shown.dropLast().reduce(0) { $0 + widths[$1] + 2 } }
            while let width, before() + 20 > width, let index = shown.lastIndex(where: { columns[$0].isOptional }) {
                shown.remove(at: index)
            }
            let last = width.map { max(8, $0 - before()) }
            func line(_ cells: [String], _ paint: (Int, String) -> String) -> String {
                shown.map { index in
                    let isLast = index == shown.last
                    let text = isLast ? last.map { cells[index].cut(to: $0) } ?? cells[index] : cells[index]
                    return paint(index, isLast ? text : text.padded(to: widths[index], right: columns[index].isRight))
                }.joined(separator: "  ")
            }
            return [line(columns.map(\.heading)) { style.dim($1) }]
                + rows.map { row in line(row) { columns[$0].paint($1) } }
        }
    }
#endif
