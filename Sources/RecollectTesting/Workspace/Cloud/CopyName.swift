import Foundation
import RecollectCore

/// The names of conflict copies, as given by sync services.
enum CopyName {
    /// Returns the names to try in sequence until one is free.
    ///
    /// - Parameters:
    ///   - path: The path of the conflicted file.
    ///   - winner: The device with the winning content.
    ///   - loser: The device with the losing content, to be copied.
    ///   - date: The date of the conflict, by the clock of the device making the copy.
    static func candidates(
        for path: ByteString, conflicts: CloudBehavior.Conflicts, winner: String, loser: String, at date: Date
    ) -> [ByteString] {
        let (stem, suffix) = parts(of: path)
        let day = stamps(of: date).day
        return (1...100).map { attempt in
            // Each further copy gets a later second, to make the names differ.
            let second = stamps(of: date.addingTimeInterval(Double(attempt - 1)))
            let again = attempt == 1 ? "" : " \(attempt - 1)"
            let middle =
                switch conflicts {
                case .syncthing: ".sync-conflict-\(second.day)-\(second.time)-\(shortID(winner))"
                case .dropbox: " (\(loser)'s conflicted copy \(dashed(day))\(again))"
                case .oneDrive: "-\(loser.uppercased())\(attempt == 1 ? "" : "-\(attempt)")"
                case .iCloud, .fileVersions: " \(attempt + 1)"
                case .iCloudForWindows: " (\(attempt))"
                }
            return ByteString(stem + middle + suffix)
        }
    }

    /// Returns the names for the second of two files with names differing only in case.
    static func caseConflicts(for path: ByteString) -> [ByteString] {
        let (stem, suffix) = parts(of: path)
        return (0..<100).map { ByteString(stem + ($0 == 0 ? " (Case Conflict)" : " (Case Conflict \($0))") + suffix) }
    }

    /// Whether Syncthing gave the name. Syncthing itself tests only for this part of it.
    static func isSyncthings(_ path: ByteString) -> Bool {
        path.string.split(separator: "/").last?.contains(".sync-conflict-") ?? false
    }

    /// Returns the seven letters of Syncthing's name for a device.
    static func shortID(_ device: String) -> String {
        var generator = SeededGenerator(seed: device.utf8.reduce(5381) { ($0 &* 33) &+ UInt64($1) })
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        return String((0..<7).map { _ in letters[Int.random(in: 0..<32, using: &generator)] })
    }

    /// Returns the path without its extension, and the extension with its dot.
    private static func parts(of path: ByteString) -> (stem: String, suffix: String) {
        let text = path.string
        let name = text.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (text, "") }
        return (String(text[..<dot]), String(text[dot...]))
    }

    private static func stamps(of date: Date) -> (day: String, time: String) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let digits = { (number: Int?, count: Int) in
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return (
            digits(parts.year, 4) + digits(parts.month, 2) + digits(parts.day, 2),
            digits(parts.hour, 2) + digits(parts.minute, 2) + digits(parts.second, 2)
        )
    }

    private static func dashed(_ day: String) -> String {
        "\(day.prefix(4))-\(day.dropFirst(4).prefix(2))-\(day.suffix(2))"
    }
}
