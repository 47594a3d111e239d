import Foundation
import RecollectCore

extension SynchronizedChat {
    private static let newline = UInt8(ascii: "\n")

    /// The bytes of the note: a line of JSON, and the session.
    var bytes: [UInt8] {
        var head = JSONWriter()
        head.object { object in
            object.member("user") { $0.write(userId) }
            object.member("change") { $0.write(change.sequence) }
            object.member("deletions") { writer in
                writer.write(list: deletions.sorted { $0.key < $1.key }) { writer, deletion in
                    let (id, restores) = (deletion.key.string, Int64(deletion.value.restores))
                    let states = deletion.value.states.sorted().map(JSONValue.string)
                    writer.write(list: [.string(id), .integer(restores)] + states) { $0.write($1) }
                }
            }
            object.member("deletedHere") { $0.write(list: deletedHere.sorted()) { $0.write($1.string) } }
            object.member("unpublished") { $0.write(list: unpublished.sorted()) { $0.write($1.string) } }
            object.member("edited") { $0.write(list: edited.sorted()) { $0.write($1.string) } }
            object.member("pending") { writer in
                writer.write(String(decoding: pending.bytes, as: UTF8.self))
            }
            object.member("replaced") { writer in
                writer.write(list: replaced.sorted { $0.key < $1.key }) { writer, item in
                    writer.write(list: [item.key.string] + item.value.sorted()) { $0.write($1) }
                }
            }
            object.member("additionCursors") { writer in
                let positions = additionCursors.flatMap { id, agents in agents.map { (id, $0.key, $0.value.sequence) } }
                writer.write(list: positions.sorted { $0 < $1 }) { writer, item in
                    let (id, agent, sequence) = item
                    writer.write(list: [.string(id.string), .string(agent.string), .integer(sequence)]) { $0.write($1) }
                }
            }
        }
        return head.bytes + [Self.newline] + chat.bytes
    }

    /// Creates the state from the bytes of its note.
    /// - Throws: `unreadable` for any other bytes.
    init(bytes: [UInt8]) throws {
        guard let end = bytes.firstIndex(of: Self.newline) else {
            throw RecollectError(.unreadable, "the saved state of a synchronization has no first line")
        }
        let head = try bytes[..<end].withUnsafeBytes { try JSONValue.parse(object: $0) }
        guard case .integer(let change) = head["change"], let userId = head["user"]?.stringValue else {
            throw RecollectError(.unreadable, "the saved state of a synchronization has no user or no change")
        }
        let deletions = (head["deletions"]?.arrayValue ?? []).compactMap {
            item -> (ByteString, ChatProjection.Deletion)? in
            guard let fields = item.arrayValue, fields.count > 1, let id = fields[0].stringValue,
                case .integer(let restores) = fields[1]
            else { return nil }
            let states = Set(fields.dropFirst(2).compactMap(\.stringValue))
            return (ByteString(id), ChatProjection.Deletion(restores: Int(restores), states: states))
        }
        let replaced = (head["replaced"]?.arrayValue ?? []).compactMap { item -> (ByteString, Set<String>)? in
            guard let fields = item.arrayValue?.compactMap(\.stringValue), let id = fields.first else { return nil }
            return (ByteString(id), Set(fields.dropFirst()))
        }
        var additionCursors: MessagePositions = [:]
        for item in head["additionCursors"]?.arrayValue ?? [] {
            guard let fields = item.arrayValue, fields.count == 3, let id = fields[0].stringValue,
                let agent = fields[1].stringValue, case .integer(let sequence) = fields[2]
            else { continue }
            additionCursors[ByteString(id), default: [:]][ByteString(agent)] = ChangeCursor(sequence: sequence)
        }
        func ids(_ name: String) -> Set<ByteString> {
            Set((head[name]?.arrayValue ?? []).compactMap { $0.stringValue.map { ByteString($0) } })
        }
        let pending = try head["pending"]?.stringValue.map { try ChatProjection(bytes: Array($0.utf8)) }
        self.init(
            userId: userId, chat: try ChatProjection(bytes: Array(bytes[(end + 1)...])),
            deletions: Dictionary(deletions, uniquingKeysWith: ChatProjection.Deletion.joined),
            deletedHere: ids("deletedHere"), unpublished: ids("unpublished"), edited: ids("edited"),
            pending: pending ?? ChatProjection(session: "", entries: []),
            replaced: Dictionary(replaced) { $1 }, additionCursors: additionCursors,
            change: ChangeCursor(sequence: change))
    }
}
