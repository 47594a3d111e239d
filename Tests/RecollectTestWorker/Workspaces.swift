import Foundation
import RecollectCore
import RecollectWorkspace

/// `lines ROOT PATH WRITER COUNT`: appends the lines `WRITER N` to a file of a workspace, each by reading the whole
/// file and writing it back until that succeeds, and prints `wrote N` after each.
func lines(_ arguments: [String]) throws {
    let provider = try FolderProvider(root: URL(fileURLWithPath: arguments[0]))
    let path = try WorkspacePath(arguments[1])
    for number in 0..<(Int(arguments[3]) ?? 0) {
        while true {
            let old: [UInt8]?
            do {
                old = try provider.read(path, limit: 1 << 24)
            } catch let error as RecollectError where error.code == .notFound {
                old = nil
            }
            let new = (old ?? []) + Array("\(arguments[2]) \(number)\n".utf8)
            do {
                try provider.write(new, to: path, replacing: old.map { ContentHash(of: $0) })
                break
            } catch is ContentMismatchError {
                continue
            }
        }
        say("wrote \(number)")
    }
}
