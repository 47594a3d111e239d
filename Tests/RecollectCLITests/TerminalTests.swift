#if CommandLine
    import Foundation
    import Testing

    @testable import RecollectCLI

    @Suite("Terminal text layout")
    struct TerminalTests {
        @Test(
            "Characters have the width that terminals give them",
            arguments: [
                ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢字", 4), ("ひらがな", 8), ("ﾊﾝｶｸ", 4), ("한국", 4),
                ("😀", 2),
                ("👩‍👩‍👧", 2), ("❤️", 2), ("…", 1),
            ])
        func width(text: String, columns: Int) {
            #expect(text.columns == columns)
        }

        @Test(
            "Text is truncated to fit, and wide characters are never split",
            arguments: [
                ("abc", 3, "abc"), ("abcd", 3, "ab…"), ("漢字", 4, "漢字"), ("漢字漢", 4, "漢…"), ("漢字漢", 5, "漢字…"),
                ("a漢字", 3, "a…"),
                ("", 0, ""),
            ])
        func cut(text: String, limit: Int, expected: String) {
            #expect(text.cut(to: limit) == expected)
            #expect(text.cut(to: limit).columns <= limit)
        }

        @Test("Columns are aligned for any content, and the last one ends at the screen's edge")
        func table() {
            var table = Table(columns: [
                .init(heading: "A"), .init(heading: "N", isRight: true), .init(heading: "TITLE"),
            ])
            table.rows = [["漢字", "1", "short"], ["x", "1,000", String(repeating: "長", count: 20)]]
            let lines = table.lines(style: Style(isOn: false), width: 30)
            #expect(lines == ["A         N  TITLE", "漢字      1  short", "x     1,000  長長長長長長長長…"])
            #expect(lines.allSatisfy { $0.columns <= 30 })
        }

        @Test("Optional columns are omitted, from the right, before the last column becomes too narrow")
        func narrowTable() {
            var table = Table(columns: [
                .init(heading: "ID"), .init(heading: "COUNT", isOptional: true),
                .init(heading: "FOLDER", isOptional: true), .init(heading: "TITLE"),
            ])
            table.rows = [["a1", "12", "atlas", String(repeating: "word ", count: 9)]]
            func heading(_ width: Int?) -> String { table.lines(style: Style(isOn: false), width: width)[0] }
            #expect(heading(nil) == "ID  COUNT  FOLDER  TITLE")
            #expect(heading(39) == "ID  COUNT  FOLDER  TITLE")
            #expect(heading(38) == "ID  COUNT  TITLE")
            #expect(heading(30) == "ID  TITLE")
            for width in 12...60 {
                #expect(table.lines(style: Style(isOn: false), width: width).allSatisfy { $0.columns <= width })
            }
        }

        @Test("Columns that need content are omitted if they are empty")
        func emptyColumns() {
            var table = Table(columns: [
                .init(heading: "ID"), .init(heading: "TAGS", needsContent: true), .init(heading: "TITLE"),
            ])
            table.rows = [["a1", "", "moon"], ["b2", "", "sea"]]
            #expect(table.lines(style: Style(isOn: false), width: 80)[0] == "ID  TITLE")
            table.rows[1][1] = "x"
            #expect(table.lines(style: Style(isOn: false), width: 80)[1] == "a1        moon")
        }

        @Test("A progress bar fits on one line of any width", arguments: [1, 5, 12, 30, 40, 80, 200])
        func progress(columns: Int) {
            let text = "106.3 MB of 150.2 MB, 141,500 messages"
            for done in [-1, 0, 0.5, 1, 7] {
                let line = ProgressBar.line(done, text, style: Style(isOn: false), columns: columns)
                #expect(line.columns < max(columns, 6))
                #expect(line.contains(text) == (columns >= 80))
            }
            let half = ProgressBar.line(0.5, "half of it", style: Style(isOn: false), columns: 60)
            #expect(half == String(repeating: "━", count: 14) + String(repeating: "─", count: 14) + " 50 %  half of it")
        }

        @Test("Text is paged by PAGER, else by less, else not at all")
        func pager() throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = "/nowhere:\(folder.path)"
            #expect(Pager.command(["PATH": path]) == nil)
            #expect(Pager.command([:]) == nil)
            let less = folder.appendingPathComponent("less").path
            #expect(FileManager.default.createFile(atPath: less, contents: nil, attributes: [.posixPermissions: 0o755]))
            #expect(Pager.command(["PATH": path]) == "less")
            #expect(Pager.command(["PATH": path, "PAGER": "more -s"]) == "more -s")
            #expect(Pager.command(["PATH": path, "PAGER": ""]) == nil)
            #expect(Pager.command(["PATH": path, "PAGER": "cat"]) == nil)
        }

        @Test("Dates are printed in a short format")
        func moments() throws {
            let calendar = Calendar.current
            let now = try #require(calendar.date(from: DateComponents(year: 2026, month: 3, day: 1, hour: 14)))
            func before(_ days: Int) throws -> Date {
                try #require(calendar.date(byAdding: .day, value: -days, to: now))
            }
            let format = Format(now: now)
            #expect(try format.short(before(0)) == "today 14:00")
            #expect(try format.short(before(1)) == "yesterday 14:00")
            #expect(try format.short(before(2)) == "27 Feb 14:00")
            #expect(try format.short(before(400)) == "25 Jan 2025")
            #expect(try format.short(before(-2)) == "3 Mar 2026")
        }

        @Test("Dates are parsed from days, times and ages")
        func typedMoments() throws {
            let now = Date(timeIntervalSince1970: 1_770_000_000)
            func seconds(_ text: String) -> TimeInterval? { DateArgument(text, now: now)?.date.timeIntervalSince(now) }
            #expect(seconds("90m") == -5_400)
            #expect(seconds("12h") == -43_200)
            #expect(seconds("0h") == 0)
            let week = try #require(DateArgument("1w", now: now)?.date)
            #expect(week == DateArgument("7d", now: now)?.date)
            #expect(Calendar.current.dateComponents([.day], from: week, to: now).day == 7)
            #expect(DateArgument("2026-02-02T02:40:00.000Z", now: now)?.date == now)
            #expect(DateArgument("2026-02-02T03:40:00+01:00", now: now)?.date == now)
            let day = try #require(DateArgument("2026-02-03", now: now)?.date)
            #expect(Calendar.current.startOfDay(for: day) == day)
            #expect(DateArgument("2026-02-03T09:30", now: now)?.date == day.addingTimeInterval(9.5 * 3_600))
            for odd in [
                "", "d", "7", "-7d", "7y", "99999999d", "2026-02-30", "2026-13-01", "26-11-01", "yesterday", "７d",
            ] {
                #expect(DateArgument(odd, now: now) == nil, "\(odd)")
            }
        }

        @Test("Counts and sizes are printed in a short format")
        func counts() {
            #expect(Format.grouped(1_234_567) == "1,234,567")
            #expect(Format.grouped(-999) == "-999")
            #expect(Format.count(1, "message") == "1 message")
            #expect(Format.count(0, "message") == "0 messages")
            #expect(
                [0, 999, 1_000, 12_345, 999_949, 999_950, 4_500_000_000].map(Format.tokens)
                    == ["0", "999", "1.0k", "12.3k", "999.9k", "1.0M", "4.5G"])
            #expect(Format.bytes(999) == "999 bytes")
            #expect(Format.bytes(10_400_000) == "10.4 MB")
            #expect(Format.bytes(999_960) == "1.0 MB")
            #expect(Format.bytes(3_000_000_000_000_000) == "3000.0 TB")
        }
    }
#endif
