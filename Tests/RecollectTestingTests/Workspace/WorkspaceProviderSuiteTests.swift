import RecollectCore
import RecollectTesting
import Testing

@Suite("The workspace provider suite")
struct WorkspaceProviderSuiteTests {
    @Test("passes a provider that keeps every promise", arguments: WorkspaceProviderSuite.checks)
    func passesACorrectProvider(_ check: WorkspaceProviderCheck) async throws {
        let outcome = try await check.run(on: FaultyProvider.fixture(nil))
        guard case .passed = outcome else {
            Issue.record("\(check) was not run")
            return
        }
    }

    @Test("has a broken provider for every check, and a check for every broken provider")
    func everyCheckCanFail() {
        let caught = Set(WorkspaceFault.allCases.map(\.caughtBy))
        let names = Set(WorkspaceProviderSuite.checks.map(\.name))
        #expect(names.subtracting(caught).sorted() == [])
        #expect(caught.subtracting(names).sorted() == [])
    }

    @Test(
        "catches a broken provider by the check that names its fault, while most others pass",
        arguments: WorkspaceFault.allCases)
    func catchesEveryFault(_ fault: WorkspaceFault) async throws {
        let fixture = FaultyProvider.fixture(fault)
        let checks = WorkspaceProviderSuite.checks
        let named = try #require(checks.first { $0.name == fault.caughtBy })
        // A race shows only where threads meet, which a busy machine may put off: the check has some tries.
        var failure: ConformanceFailure?
        for _ in 0..<20 where failure == nil {
            do {
                _ = try await named.run(on: fixture)
            } catch let error as ConformanceFailure {
                failure = error
            }
        }
        #expect(failure?.check == fault.caughtBy)
        var others: [String] = []
        for check in checks where check.name != named.name {
            if (try? await check.run(on: fixture)) == nil { others.append(check.name) }
        }
        #expect(others.count <= checks.count / 3, "other checks that failed: \(others)")
    }

    @Test("names what a provider does not declare")
    func reports() async {
        let fixture = StoreFixture<WorkspaceProviderPlace>.simulatedCloud(.syncthing)
        let report = await WorkspaceProviderSuite.report(on: fixture)
        #expect(report.isConforming, "\(report)")
        let cloud = SimulatedCloud(seed: 1)
        let plain = await WorkspaceProviderSuite.report(
            on: StoreFixture {
                let device = cloud.device("\(cloud.log(last: 0).count)")
                return WorkspaceProviderPlace(provider: device.provider, put: { device.edit($0, $1) })
            })
        #expect(plain.description.contains(#/evicted\.isListed +not declared: evicts/#))
        #expect(plain.description.contains(#/root\.goneIsUnavailable +not declared: losesRoot/#))
    }

    @Test("has unique names of a subject and a promise, and says every promise in a line")
    func namesAreStable() throws {
        let checks = WorkspaceProviderSuite.checks
        #expect(Set(checks.map(\.name)).count == checks.count)
        for check in checks {
            #expect(try #/^[a-z][a-zA-Z]+\.[a-z][a-zA-Z]+$/#.wholeMatch(in: check.name) != nil, "\(check)")
            #expect(check.promise.hasSuffix(".") && !check.promise.contains("\n"), "\(check)")
        }
    }
}
