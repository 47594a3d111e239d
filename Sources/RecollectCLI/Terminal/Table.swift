#if CommandLine
    /// Columns under headings, as wide as they need to be; the last is cut where the screen ends.
    struct Table {
        struct Column {
            var heading: String
            var isRight = false
            var paint: (String) -> String = { $0 }
        }

        var columns: [Column]
        var rows: [[String]] = []

        /// The table's lines.
        func lines(style: Style, width: Int?) -> [String] {
            let widths = columns.indices.map { index in
                rows.reduce(columns[index].heading.columns) { max($0, $1[index].columns) }
            }
            let before = widths.dropLast().reduce(0) { $0 + $1 + 2 }
            let last = width.map { max(12, $0 - before) }
            func line(_ cells: [String], _ paint: (Int, String) -> String) -> String {
                let padded = cells.enumerated().map { index, cell in
                    let isLast = index == cells.count - 1
                    let text = isLast ? last.map { cell.cut(to: $0) } ?? cell : cell
                    return paint(index, isLast ? text : text.padded(to: widths[index], right: columns[index].isRight))
                }
                return padded.joined(separator: "  ")
            }
            return [line(columns.map(\.heading)) { style.dim($1) }]
                + rows.map { row in line(row) { columns[$0].paint($1) } }
        }
    }
#endif
