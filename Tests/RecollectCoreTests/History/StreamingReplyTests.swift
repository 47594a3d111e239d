import Foundation
import Testing

@testable import RecollectCore

@Suite("Streaming replies") struct StreamingReplyTests {
    private let writer = RecordingWriter()
    private let pauses = Gate()
    private let scope = Scope(userId: "u", sessionId: "s", agentId: "a")
    private let start = ConversationMessage(id: "r", role: .assistant, text: "")

    private func draft(_ message: ConversationMessage? = nil) -> StreamingReply {
        StreamingReply(message ?? start, scope: scope, writer: writer) { [pauses] in try await pauses.wait($0) }
    }

    private func saying(_ text: String, isInterrupted: Bool = false) -> ConversationMessage {
        var message = start
        message.parts = [.text(text)]
        message.isInterrupted = isInterrupted
        return message
    }

    @Test("Pieces stay in memory for half a second, and then are saved in order")
    func flush() async {
        let reply = draft()
        reply.append("one ")
        reply.append("two ")
        #expect(writer.calls.isEmpty)
        #expect(await pauses.open() == 500)
        #expect(await writer.next() == .saved(text: "one two "))
        reply.append("three")
        #expect(await pauses.open() == 500)
        #expect(await writer.next() == .saved(text: "one two three"))
        #expect(reply.message.text == "one two three")
    }

    @Test("Only one flush runs at a time; later pieces go with the next flush")
    func oneAtATime() async {
        writer.isHeld.withLock { $0 = true }
        let reply = draft()
        reply.append("a")
        _ = await pauses.open()
        await writer.holds.hasWaiter()
        reply.append("b")
        #expect(writer.calls.isEmpty)
        writer.isHeld.withLock { $0 = false }
        _ = await writer.holds.open()
        #expect(await writer.next() == .saved(text: "a"))
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: "ab"))
    }

    @Test("A failed flush is retried after the next pause, with the pieces since")
    func failingFlush() async {
        let reply = draft()
        writer.failures.withLock { $0 = 1 }
        reply.append("a")
        _ = await pauses.open()
        #expect(await writer.next() == .failed)
        reply.append("b")
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: "ab"))
    }

    @Test("`finish` saves everything at once; a second end does nothing, and later pieces are ignored")
    func finish() async throws {
        let reply = draft()
        reply.append("all of it")
        #expect(reply.message.isStreaming)
        try await reply.finish()
        reply.append(" and more")
        try await reply.finish(saying("something else"))
        try await reply.interrupt()
        #expect(writer.calls == [.finished(saying("all of it"))])
        #expect(reply.message == saying("all of it"))
    }

    @Test("`finish` saves the caller's message; a message with another ID throws, and the reply continues")
    func finishWithMessage() async throws {
        let reply = draft()
        reply.append("half")
        await #expect {
            try await reply.finish(ConversationMessage(id: "other", role: .assistant, text: "x"))
        } throws: {
            ($0 as? RecollectError)?.code == .invalidArgument
        }
        var whole = saying("half and half")
        whole.parts.append(.toolCall(id: "c", name: "look", arguments: [:]))
        whole.isStreaming = true
        try await reply.finish(whole)
        whole.isStreaming = false
        #expect(writer.calls == [.finished(whole)])
    }

    @Test("`interrupt` marks the reply, even in a canceled task")
    func interrupt() async throws {
        let reply = draft()
        reply.append("half")
        let streaming = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await reply.interrupt()
        }
        try await streaming.value
        #expect(writer.calls == [.finished(saying("half", isInterrupted: true))])
    }

    @Test("A failed end leaves the reply streaming: it grows, is flushed and can be ended again")
    func failingFinish() async throws {
        let reply = draft()
        reply.append("a")
        writer.failures.withLock { $0 = 1 }
        await #expect(throws: RecordingWriter.Failure.self) { try await reply.finish() }
        #expect(await writer.next() == .failed)
        #expect(reply.message.isStreaming)
        reply.append("b")
        // The pause that the end cut short, and the next one.
        _ = await pauses.open()
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: "ab"))
        try await reply.finish()
        #expect(await writer.next() == .finished(saying("ab")))
    }

    @Test("Releasing an unfinished reply interrupts it; an ended reply stays unchanged")
    func release() async throws {
        var reply: StreamingReply? = draft()
        reply?.append("half")
        reply = nil
        #expect(await writer.next() == .finished(saying("half", isInterrupted: true)))
        reply = draft()
        try await reply?.finish()
        reply = nil
        #expect(await writer.next() == .finished(start))
        #expect(writer.calls.count == 2)
    }

    @Test("Text continues a text part, and begins a new part after any other part")
    func parts() {
        let call = ContentPart.toolCall(id: "c", name: "look", arguments: [:])
        for (before, after) in [
            ([], [.text("x")]), ([.text("a")], [.text("ax")]), ([call], [call, .text("x")]),
            ([.text("a"), call], [.text("a"), call, .text("x")]), ([call, .text("a")], [call, .text("ax")]),
        ] as [([ContentPart], [ContentPart])] {
            let reply = draft(ConversationMessage(role: .assistant, parts: before))
            #expect(reply.message.parts == before)
            reply.append("")
            #expect(reply.message.parts == before)
            reply.append("x")
            #expect(reply.message.parts == after)
        }
    }

    @Test(
        "A part follows the earlier content, text after it begins a new part, and empty text parts are removed"
    )
    func appendingParts() {
        let call = ContentPart.toolCall(id: "c", name: "look", arguments: [:])
        let result = ContentPart.toolResult(id: "c", content: "there")
        for (before, after) in [
            ([], [call, result, .text("xy")]), ([.text("")], [call, result, .text("xy")]),
            ([.text("a")], [.text("a"), call, result, .text("xy")]), ([call], [call, call, result, .text("xy")]),
        ] as [([ContentPart], [ContentPart])] {
            let reply = draft(ConversationMessage(role: .assistant, parts: before))
            for part in [.text(""), call, result, .text("x"), .text("y")] { reply.append(part) }
            #expect(reply.message.parts == after)
        }
    }

    @Test("Parts are passed to the writer once, or again after a failure; text is passed without parts")
    func keepingParts() async {
        let call = ContentPart.toolCall(id: "c", name: "look", arguments: [:])
        let reply = draft()
        reply.append("a")
        reply.append(call)
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: nil, behind: [.text("a"), call]))
        reply.append("b")
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: "b"))
        writer.failures.withLock { $0 = 1 }
        reply.append(call)
        _ = await pauses.open()
        #expect(await writer.next() == .failed)
        reply.append("c")
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: "c", behind: [.text("a"), call, .text("b"), call]))
    }

    @Test("Reasoning grows in one part, is saved like a part, and ends with the next text or part")
    func reasoning() async throws {
        let reply = draft()
        reply.append(thinking: "")
        reply.append(thinking: "let ")
        reply.append(thinking: "me ")
        _ = await pauses.open()
        #expect(await writer.next() == .saved(text: nil, behind: [.thinking("let me ", signature: nil)]))
        reply.append(thinking: "see")
        reply.append("one")
        _ = await pauses.open()
        let thought = ContentPart.thinking("let me see", signature: nil)
        #expect(await writer.next() == .saved(text: "one", behind: [thought]))
        reply.append(.thinking("whole", signature: "s"))
        reply.append(thinking: "more")
        #expect(
            reply.message.parts == [
                thought, .text("one"), .thinking("whole", signature: "s"), .thinking("more", signature: nil),
            ])
        try await reply.finish()
        let parts = reply.message.parts
        reply.append(thinking: "late")
        #expect(reply.message.parts == parts && parts.count == 4)
    }

    @Test("Parts after the end are ignored, and the caller's message replaces earlier parts")
    func partsAndTheEnd() async throws {
        let reply = draft()
        reply.append(.toolCall(id: "c", name: "look", arguments: [:]))
        try await reply.finish(saying("all"))
        reply.append(.toolResult(id: "c", content: "there"))
        #expect(writer.calls == [.finished(saying("all"))])
        #expect(reply.message == saying("all"))
    }

    @Test("Concurrent tasks lose no pieces, and each task's pieces stay in order")
    func manyTasks() async throws {
        let reply = draft()
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { for piece in 0..<200 { reply.append("\(task):\(piece) ") } }
            }
        }
        try await reply.finish()
        let pieces = reply.message.text.split(separator: " ")
        for task in 0..<8 {
            #expect(pieces.filter { $0.hasPrefix("\(task):") } == (0..<200).map { "\(task):\($0)" })
        }
    }
}

/// Saves nothing, but records its calls.
private final class RecordingWriter: ReplyWriter {
    enum Call: Equatable {
        case saved(text: String?, behind: [ContentPart]? = nil), finished(ConversationMessage), failed
    }
    struct Failure: Error {}

    /// The number of next calls that fail.
    let failures = Locked(0)
    /// Whether `keep` waits at the gate `holds`.
    let isHeld = Locked(false)
    let holds = Gate()
    private let log = Locked<[Call]>([])
    private let stream = AsyncStream<Call>.makeStream()

    var calls: [Call] { log.withLock { $0 } }

    func next() async -> Call? {
        var iterator = stream.stream.makeAsyncIterator()
        return await iterator.next()
    }

    func save(_ text: String?, behind parts: [ContentPart]?) async throws {
        if isHeld.withLock({ $0 }) { try await holds.wait(0) }
        try record(.saved(text: text, behind: parts))
    }

    func finish(_ message: ConversationMessage, isAppended: Bool) async throws {
        try record(.finished(message))
    }

    private func record(_ call: Call) throws {
        let fails = failures.withLock { failures in
            defer { failures = max(0, failures - 1) }
            return failures > 0
        }
        log.withLock { $0.append(fails ? .failed : call) }
        stream.continuation.yield(fails ? .failed : call)
        if fails { throw Failure() }
    }
}

/// A gate at which code under test waits until the test opens it.
private final class Gate: Sendable {
    private struct Waiter: Sendable {
        let milliseconds: Int
        let opening: AsyncStream<Void>.Continuation
    }
    private let waiters = AsyncStream<Waiter>.makeStream()
    private let first = Locked<Waiter?>(nil)

    func wait(_ milliseconds: Int) async throws {
        let (stream, opening) = AsyncStream<Void>.makeStream()
        waiters.continuation.yield(Waiter(milliseconds: milliseconds, opening: opening))
        for await _ in stream {}
        try Task.checkCancellation()
    }

    /// Waits until a caller waits at the gate.
    func hasWaiter() async {
        guard first.withLock({ $0 == nil }) else { return }
        var iterator = waiters.stream.makeAsyncIterator()
        let waiter = await iterator.next()
        first.withLock { $0 = waiter }
    }

    /// Lets the first waiting caller continue; returns the duration that it would have waited.
    func open() async -> Int? {
        await hasWaiter()
        let waiter = first.withLock { first in
            defer { first = nil }
            return first
        }
        waiter?.opening.finish()
        return waiter?.milliseconds
    }
}
