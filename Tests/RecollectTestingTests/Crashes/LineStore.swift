import Foundation
import RecollectCore
import RecollectFileSystem
import RecollectTesting

/// A list of lines in a file replaced with each change, correct or with one fault.
struct LineStore: Sendable {
    enum Fault: String, CaseIterable, Sendable {
        case none
        /// The new file is not synced before it gets its name.
        case unsyncedFile
        /// The folder is not synced after the rename.
        case unsyncedFolder
        /// The file is emptied and written in place.
        case inPlace
        /// A line is acknowledged before it is written.
        case early
        /// A removed line stays in a copy of the file.
        case copyStays
    }

    let folder: URL
    var fault = Fault.none

    private static let name = "lines"

    /// Returns the stored lines.
    func lines() throws -> [String] {
        let url = folder.appendingPathComponent(Self.name)
        guard FileManager.default.fileExists(atPath: url.path) else { return [] }
        let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    func change(_ change: ([String]) -> [String]) throws {
        let opened = try OpenFolder(path: folder.path)
        let bytes = Array(change(try lines()).map { $0 + "\n" }.joined().utf8)
        if fault == .inPlace, let file = try? opened.file(Self.name, forWriting: true) {
            try file.write([UInt8](repeating: UInt8(ascii: "\n"), count: try file.size()), at: 0)
            try file.write(bytes, at: 0)
            return try file.synchronize()
        }
        let (name, file) = try opened.stage { try $0.write(bytes, at: 0) }
        if fault != .unsyncedFile { try file.synchronize() }
        if fault == .copyStays, FileManager.default.fileExists(atPath: opened.path(of: Self.name)) {
            try? opened.remove("copy")
            try opened.rename(Self.name, to: "copy")
        }
        try opened.rename(name, to: Self.name)
        if fault != .unsyncedFolder { try opened.synchronize() }
    }

    /// Returns a scenario of four additions, one by one, and the removal of the second line.
    static func scenario(_ fault: Fault) -> CrashScenario {
        CrashScenario(fault.rawValue) { run in
            let store = LineStore(folder: run.folder, fault: fault)
            for number in 0..<4 {
                let line = "line\(number)"
                if fault == .early { await run.change("lines", adding: [line]) {} }
                try await run.change("lines", adding: fault == .early ? [] : [line]) {
                    try store.change { $0 + [line] }
                }
            }
            try await run.change("lines", removing: ["line1"], erasing: ["line1"]) {
                try store.change { $0.filter { $0 != "line1" } }
            }
        } reopen: { image in
            // Opening the store removes the remains of an interrupted replacement.
            let opened = try OpenFolder(path: image.folder.path)
            try opened.removeLeftovers(among: opened.names())
            return CrashedStore(lists: ["lines": try LineStore(folder: image.folder).lines()])
        }
    }
}
