import Foundation
import RecollectCore
import RecollectTesting
import RecollectTestSupport
import Testing

@Suite("Chat storage conformance suite")
struct ChatStorageConformanceTests {
    @Test("A correct store passes every check", arguments: ChatStorageConformance.checks)
    func passesACorrectStore(_ check: ChatStorageCheck) async throws {
        let outcome = try await check.run(on: FaultyChatStorage.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("Every check has a faulty store, and every faulty store has a check")
    func everyCheckCanFail() {
        expectEveryCheckCanFail(Fault.self, of: ChatStorageConformance.checks)
    }

    @Test(
        "A faulty store fails the check of its fault and passes most others", .needs(.time),
        arguments: Fault.allCases)
    func catchesEveryFault(_ fault: Fault) async throws {
        try await expectCaught(fault, by: ChatStorageConformance.checks, on: FaultyChatStorage.fixture(fault))
    }

    @Test("Check names are unique and have two parts, and every promise is one line")
    func namesAreStable() throws {
        let checks = ChatStorageConformance.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect((1...10).contains(try #require(check.rule)), "\(check)")
            #expect(check.promise.hasSuffix("."), "\(check)")
            #expect(!check.promise.contains("\n"), "\(check)")
        }
    }
}

@Suite("Conformance runs")
struct ConformanceRunTests {
    @Test("A report lists undeclared capabilities by name, and does not count their checks as kept")
    func reportsWhatIsNotDeclared() async throws {
        let capabilities = StoreCapabilities.standard.subtracting(.keepsNUL)
        let report = await ChatStorageConformance.report(capabilities: capabilities, includingLong: false) {
            FaultyChatStorage(.endsTextAtNUL)
        }
        #expect(report.isConforming)
        #expect(report.lines.count == ChatStorageConformance.checks.count)
        let table = report.description
        #expect(table.contains(#/text\.keepsNUL +not declared: keepsNUL/#))
        #expect(table.contains(#/persistence\.keepsTrimmedWindows +not declared: persistent/#))
        #expect(table.contains(#/atomicity\.largeBatch +skipped: long/#))
        #expect(table.contains(#/window\.saveTrims +passed/#))
        let saved = report.lines.filter { if case .passed = $0.outcome { true } else { false } }.count
        #expect(table.hasSuffix("\(saved) of \(report.lines.count) checks passed, 0 failed"))
    }

    @Test("A failure has the rule, the expected and the actual result, and the source location")
    func failuresSayEverything() async throws {
        let report = await ChatStorageConformance.report(includingLong: false) {
            FaultyChatStorage(.splitsPairsOnOddBudgets)
        }
        #expect(!report.isConforming)
        let failure = try #require(report.failures.first { $0.check == "window.roundsDownToEven" })
        #expect(failure.rule == 2)
        #expect(failure.expected == "fetch of 3 out of 10: 2 messages [\"m8\", \"m9\"]")
        #expect(failure.actual == "3 messages [\"m7\", \"m8\", \"m9\"]")
        #expect(failure.file == #fileID)
        #expect(report.description.contains("window.roundsDownToEven (rule 2) at RecollectTestingTests/"))
        #expect(report.description.contains("FAILED"))
    }

    @Test("An error thrown by the store is the cause of the failure")
    func errorsAreFailures() async throws {
        let check = try #require(ChatStorageConformance.checks.first { $0.name == "scope.unknownIsEmpty" })
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await check.run { throw RecollectError(.diskFull, "no space: free some") }
        }
        #expect(failure?.expected == "no error")
        #expect(failure?.actual == "no space: free some (diskFull)")
        #expect((failure?.cause as? RecollectError)?.code == .diskFull)
    }

    @Test("The location is removed after failed and passed checks")
    func placesAreRemoved() async throws {
        let open = Locked(0)
        let fixture = StoreFixture<any ChatStorage>(
            location: { open.withLock { $0 += 1 } }, open: { FaultyChatStorage(.keepsRepeatedRoles) },
            remove: { open.withLock { $0 -= 1 } })
        _ = await ChatStorageConformance.report(on: fixture, includingLong: false)
        #expect(open.withLock { $0 } == 0)
    }

    @Test("Cancellation of the calling task cancels the check")
    func cancellationIsNotAFailure() async throws {
        let check = try #require(ChatStorageConformance.checks.first)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await check.run { throw RecollectError(.diskFull, "no space") }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
