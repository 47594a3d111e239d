import Foundation
import RecollectCore

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Runs several processes on one folder, one operation at a time, in an order drawn by the seed.
///
/// A process waiting for a lock makes no request. So the schedule waits for working processes only for a limited
/// time, and then continues with the others.
final class ProcessSchedule: Sendable {
    private struct Worker {
        let process: Process
        let input: FileHandle
        /// Whether it has requested an operation.
        var isReady = false
        /// Whether it is waiting for a signal.
        var waits = false
        var hasEnded = false
        /// Whether its end is in the journal.
        var isOver = false
        var works: Bool { !hasEnded && !isReady && !waits }
        /// Whether it made no request for so long that it is probably waiting for a lock.
        var isQuiet = false
    }

    private enum Event: Sendable {
        case message(WorkerMessage)
        case ended
    }

    private let seed: UInt64
    private let killsOne: Bool
    private let arrivals = Arrivals()

    /// Creates a schedule.
    ///
    /// - Parameter killsOne: Whether a process is killed before an operation drawn by the seed.
    init(seed: UInt64, killsOne: Bool = false) {
        self.seed = seed
        self.killsOne = killsOne
    }

    /// Runs the processes to their end and returns their steps, in one order.
    func run(_ processes: [CrashProcess], in folder: URL) async throws -> [RecordedStep] {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try self.schedule(processes, in: folder) })
            }
        }
    }

    private func schedule(_ processes: [CrashProcess], in folder: URL) throws -> [RecordedStep] {
        var workers = try processes.enumerated().map { try start($1, as: $0, in: folder) }
        defer { for worker in workers where worker.process.isRunning { worker.process.terminate() } }
        var generator = SeededGenerator(seed: seed)
        var journal: [RecordedStep] = []
        var signals: Set<String> = []
        var last: Int?
        let victim = killsOne ? Int.random(in: 0..<workers.count, using: &generator) : nil
        var operationsToLive = Int.random(in: 1..<150, using: &generator)
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            collect(&workers, signals)
            for index in workers.indices where workers[index].hasEnded && !workers[index].isOver {
                workers[index].isOver = true
                journal.append(RecordedStep(process: index, action: .end))
            }
            if workers.allSatisfy(\.hasEnded) { break }
            guard ContinuousClock.now < deadline else {
                throw RecollectError(
                    .busy, "the processes of a run did not exit within two minutes: they may be deadlocked")
            }
            let ready = workers.indices.filter { workers[$0].isReady }
            if ready.isEmpty { continue }
            // A process continues for several operations, like a real one, before another may run.
            let goesOn = last.map { ready.contains($0) && Int.random(in: 0..<4, using: &generator) > 0 } ?? false
            let next = goesOn ? last ?? ready[0] : ready[Int.random(in: 0..<ready.count, using: &generator)]
            last = next
            workers[next].isReady = false
            if next == victim {
                operationsToLive -= 1
                if operationsToLive == 0 {
                    kill(workers[next].process.processIdentifier, SIGKILL)
                    // Record the end at once: another process may take its lock before the end is reported.
                    workers[next].isOver = true
                    journal.append(RecordedStep(process: next, action: .end))
                    continue
                }
            }
            try workers[next].input.write(contentsOf: Data([1]))
            for var entry in operation(of: next, &workers, signals) {
                entry.process = next
                if case .signal(let name) = entry.note { signals.insert(name) }
                journal.append(entry)
            }
        }
        for (index, worker) in workers.enumerated() {
            worker.process.waitUntilExit()
            if index == victim, worker.process.terminationReason == .uncaughtSignal { continue }
            guard worker.process.terminationStatus == 0 else {
                throw RecollectError(
                    .inputOutput, "a process of the run exited with status \(worker.process.terminationStatus)")
            }
        }
        return journal
    }

    private func start(_ process: CrashProcess, as number: Int, in folder: URL) throws -> Worker {
        let running = Process()
        let (input, output) = (Pipe(), Pipe())
        running.executableURL = process.executable
        running.arguments = process.arguments + [folder.path]
        running.standardInput = input
        running.standardOutput = output
        try running.run()
        Thread.detachNewThread { [arrivals] in
            let descriptor = output.fileHandleForReading.fileDescriptor
            // A failed read means the end of the process. Its exit code has the reason.
            while let message = try? WorkerMessage.read(from: descriptor) { arrivals.add(number, message) }
            arrivals.add(number, nil)
            withExtendedLifetime(output) {}
        }
        return Worker(process: running, input: input.fileHandleForWriting)
    }

    /// Receives messages, and waits for working processes.
    private func collect(_ workers: inout [Worker], _ signals: Set<String>) {
        while workers.contains(where: \.works) || !workers.contains(where: \.isReady) {
            // Give quiet processes a short time to take a released lock.
            let maxWait = workers.allSatisfy { !$0.works || $0.isQuiet } ? 0.0005 : 0.03
            guard let (number, message) = arrivals.next(within: maxWait) else {
                for index in workers.indices where workers[index].works { workers[index].isQuiet = true }
                return
            }
            take(message, of: number, &workers, signals)
        }
    }

    private func take(_ message: WorkerMessage?, of number: Int, _ workers: inout [Worker], _ signals: Set<String>) {
        workers[number].isQuiet = false
        guard let message else {
            workers[number].hasEnded = true
            return
        }
        switch message.kind {
        case .request: workers[number].isReady = true
        case .ask:
            let isGiven = message.wait.map(signals.contains) ?? true
            workers[number].waits = !isGiven
            // A write fails only to a process already ended. The end arrives as the next message.
            try? workers[number].input.write(contentsOf: Data([isGiven ? 1 : 0]))
        case .entry, .finished: return
        }
    }

    /// Returns the steps of a process after its permission to continue.
    private func operation(
        of number: Int, _ workers: inout [Worker], _ signals: Set<String>
    ) -> [RecordedStep] {
        var entries: [RecordedStep] = []
        while let (sender, message) = arrivals.next(within: 60) {
            guard sender == number, let message else {
                take(message, of: sender, &workers, signals)
                if sender == number { return entries }
                continue
            }
            if let entry = message.entry { entries.append(entry) }
            if message.kind == .finished { return entries }
        }
        return entries
    }
}

/// The messages from workers, in order of arrival.
///
/// `@unchecked Sendable`: the condition guards the list.
private final class Arrivals: @unchecked Sendable {
    private let condition = NSCondition()
    private var list: [(Int, WorkerMessage?)] = []

    func add(_ number: Int, _ message: WorkerMessage?) {
        condition.lock()
        list.append((number, message))
        condition.signal()
        condition.unlock()
    }

    /// Returns the next message; `nil` if none arrives within the time.
    func next(within seconds: Double) -> (Int, WorkerMessage?)? {
        condition.lock()
        defer { condition.unlock() }
        let deadline = Date().addingTimeInterval(seconds)
        while list.isEmpty {
            guard condition.wait(until: deadline) else { return nil }
        }
        return list.removeFirst()
    }
}
