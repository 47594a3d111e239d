import Foundation
import RecollectAgents
import RecollectCore
import RecollectFileSystem

/// Assembles tool calls from streamed pieces.
struct ToolCallPieces {
    private struct Call {
        var index: Int64?
        var id = ""
        var name = ""
        var text = ""
        /// Arguments received as JSON instead of text.
        var value: JSONValue?
    }

    private var calls: [Call] = []

    var isEmpty: Bool { calls.isEmpty }

    /// The size of a call without its ID, name and arguments, in bytes.
    private static let frame = 64

    /// Adds an element of `tool_calls`, as far as the limit allows.
    mutating func add(_ piece: JSONValue, _ room: inout ReplySizeLimit) {
        guard !room.isOver else { return }
        let function = piece["function"]
        let name = function?["name"]?.stringValue ?? ""
        let count = calls.count
        let id = piece["id"]?.stringValue ?? ""
        let position = position(index: piece["index"]?.integerValue, id: id, name: name)
        if calls.count > count {
            guard room.takeWhole(Self.frame + id.utf8.count) else {
                calls.removeLast()
                return
            }
        } else if calls[position].id.isEmpty {
            guard room.takeWhole(id.utf8.count) else { return }
        }
        if calls[position].id.isEmpty { calls[position].id = id }
        // Some servers repeat the whole name in every piece.
        if calls[position].name != name { calls[position].name += room.take(name) }
        switch function?["arguments"] {
        case .string(let text)?: calls[position].text += room.take(text)
        case nil, .null?: break
        case let value?:
            let fitting = room.take(value.jsonString)
            if room.isOver { calls[position].text = fitting } else { calls[position].value = value }
        }
    }

    /// Returns the position of a piece's call. Some servers send whole calls, all with the index 0 or without
    /// an index. There, a new ID together with a name begins another call.
    private mutating func position(index: Int64?, id: String, name: String) -> Int {
        let candidate = index.map { index in calls.lastIndex { $0.index == index } } ?? calls.indices.last
        if let candidate {
            let isAnother: Bool
            if id.isEmpty {
                isAnother = index == nil && !name.isEmpty && !calls[candidate].name.isEmpty
            } else {
                isAnother = !name.isEmpty && !calls[candidate].id.isEmpty && calls[candidate].id != id
            }
            if !isAnother { return candidate }
        }
        calls.append(Call(index: index))
        return calls.count - 1
    }

    /// Returns the calls in the order of their beginnings, each with a unique ID.
    func events() -> [LLMStreamEvent] {
        var used: Set<String> = [""]
        return calls.map { call in
            let id = used.insert(call.id).inserted ? call.id : "call_\(UUID.random().uuidString)"
            return .toolCall(
                id: id, name: call.name, arguments: call.value?.fromOutside ?? Self.arguments(call.text))
        }
    }

    /// Returns the arguments of a call. Missing arguments become an empty object. Text other than storable JSON
    /// stays as the model wrote it.
    private static func arguments(_ text: String) -> JSONValue {
        text.allSatisfy(\.isWhitespace) ? [:] : JSONValue(fromOutside: text)
    }
}
