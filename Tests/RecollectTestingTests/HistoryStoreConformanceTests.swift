import Recollect
import RecollectTesting
import Testing

@Suite("The history suite")
struct HistoryStoreConformanceTests {
    @Test("passes a history that keeps every promise, wrapped or not", arguments: HistoryStoreConformance.checks)
    func passesACorrectStore(_ check: HistoryStoreCheck) async throws {
        let outcome = try await check.run(on: FaultyHistoryStore.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("has a broken history for every check, and a check for every broken history")
    func everyCheckCanFail() {
        let caught = Set(HistoryFault.allCases.map(\.caughtBy))
        let names = Set(HistoryStoreConformance.checks.map(\.name))
        #expect(names.subtracting(caught).sorted() == [])
        #expect(caught.subtracting(names).sorted() == [])
    }

    @Test(
        "catches a broken history by the check that names its fault, while most others pass",
        arguments: HistoryFault.allCases)
    func catchesEveryFault(_ fault: HistoryFault) async throws {
        let fixture = FaultyHistoryStore.fixture(fault)
        let checks = HistoryStoreConformance.checks
        let named = try #require(checks.first { $0.name == fault.caughtBy })
        let failure = await #expect(throws: ConformanceFailure.self) { try await named.run(on: fixture) }
        #expect(failure?.check == fault.caughtBy)
        // Every fourth of the other checks, others for each fault: all of them for every fault would take minutes.
        let place = try #require(HistoryFault.allCases.firstIndex(of: fault))
        let sample = checks.enumerated().filter { $0.offset % 4 == place % 4 }.map(\.element)
            .filter { $0.name != named.name && !$0.isLong }
        var others = 0
        for check in sample where (try? await check.run(on: fixture)) == nil { others += 1 }
        #expect(others <= sample.count / 3, "\(others) of \(sample.count) other checks failed")
    }

    @Test("reports every check of a history in one table")
    func reports() async {
        let report = await HistoryStoreConformance.report {
            SQLiteHistoryStore(inMemory: HistoryConfiguration())
        }
        #expect(report.isConforming, "\(report)")
        #expect(report.lines.map(\.check) == HistoryStoreConformance.checks.map(\.name))
        #expect(report.description.contains(#/reopening\.keepsTheFeed +not declared: persistent/#))
    }

    @Test("has unique names of a subject and a promise, and says every promise in a line")
    func namesAreStable() throws {
        let checks = HistoryStoreConformance.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        #expect(Set(checks.map(\.name)).isDisjoint(with: ChatStorageConformance.checks.map(\.name)))
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect(check.rule.map { (1...10).contains($0) } ?? true, "\(check)")
            #expect(check.promise.hasSuffix("."), "\(check)")
        }
    }
}
