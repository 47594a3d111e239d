import RecollectCore
import RecollectTesting
import Testing

@Suite("The session storage suite")
struct SessionStorageConformanceTests {
    @Test("passes a storage that keeps every promise", arguments: SessionStorageConformance.checks)
    func passesACorrectStorage(_ check: SessionStorageCheck) async throws {
        let outcome = try await check.run(on: FaultySessionStorage.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("has a broken storage for every check, and a check for every broken storage")
    func everyCheckCanFail() {
        let caught = Set(SessionFault.allCases.map(\.caughtBy))
        let names = Set(SessionStorageConformance.checks.map(\.name))
        #expect(names.subtracting(caught).sorted() == [])
        #expect(caught.subtracting(names).sorted() == [])
    }

    @Test(
        "catches a broken storage by the check that names its fault, while most others pass",
        arguments: SessionFault.allCases)
    func catchesEveryFault(_ fault: SessionFault) async throws {
        let fixture = FaultySessionStorage.fixture(fault)
        let checks = SessionStorageConformance.checks
        let named = try #require(checks.first { $0.name == fault.caughtBy })
        // A race shows only where tasks meet, which a busy machine may put off: the check has some tries.
        var failure: ConformanceFailure?
        for _ in 0..<20 where failure == nil {
            do {
                _ = try await named.run(on: fixture)
            } catch let error as ConformanceFailure {
                failure = error
            }
        }
        #expect(failure?.check == fault.caughtBy)
        // Every fourth of the other checks, others for each fault: all of them for every fault would take minutes.
        let place = try #require(SessionFault.allCases.firstIndex(of: fault))
        let sample = checks.enumerated().filter { $0.offset % 4 == place % 4 }.map(\.element)
            .filter { $0.name != named.name && !$0.isLong }
        var others = 0
        for check in sample where (try? await check.run(on: fixture)) == nil { others += 1 }
        #expect(others <= sample.count / 3, "\(others) of \(sample.count) other checks failed")
    }

    @Test("reports every check of a storage in one table")
    func reports() async {
        let report = await SessionStorageConformance.report(includingLong: false) { FaultySessionStorage(nil) }
        #expect(report.isConforming, "\(report)")
        #expect(report.lines.map(\.check) == SessionStorageConformance.checks.map(\.name))
        #expect(report.description.contains(#/reopened\.keepsEverything +not declared: persistent/#))
        #expect(report.description.contains(#/transcript\.largeOnesGrow +not run: long/#))
    }

    @Test("has unique names of a subject and a promise, and says every promise in a line")
    func namesAreStable() throws {
        let checks = SessionStorageConformance.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        #expect(Set(checks.map(\.name)).isDisjoint(with: ChatStorageConformance.checks.map(\.name)))
        #expect(Set(checks.map(\.name)).isDisjoint(with: HistoryStoreConformance.checks.map(\.name)))
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect(check.rule.map { (1...10).contains($0) } ?? true, "\(check)")
            #expect(check.promise.hasSuffix("."), "\(check)")
            #expect(!check.promise.contains("\n"), "\(check)")
        }
    }
}
