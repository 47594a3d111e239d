import Foundation
import RecollectCore
import RecollectTesting

@testable import RecollectWorkspace

/// Devices of a simulated cloud with a workspace each, for the test of one fault.
struct SimulatedFleet {
    let cloud: SimulatedCloud
    let ledger: LifeLedger
    var devices: [LifeDevice]
    /// The seed and the behavior of the cloud, which reproduce the run.
    let name: String
    private let folder: TestFolder

    init(seed: UInt64, behavior: CloudBehavior? = nil, count: Int = 2) throws {
        let (name, own) = CloudBehavior.all[Int(seed % UInt64(CloudBehavior.all.count))]
        let cloud = SimulatedCloud(seed: seed, behavior: behavior ?? own)
        let ledger = LifeLedger(seed: seed)
        let folder = try TestFolder()
        (self.cloud, self.ledger, self.folder) = (cloud, ledger, folder)
        self.name = "seed \(seed), \(behavior == nil ? name : "\(own)")"
        devices = try ["anna", "bert", "carl"].prefix(count).map {
            try LifeDevice(cloud.device($0), interruptions: Interruptions(ledger: ledger), in: folder.url)
        }
    }

    subscript(_ index: Int) -> SharedWorkspace { devices[index].workspace }

    /// Brings the devices to rest and returns the faults found then.
    func faults() async throws -> [String] {
        try await LifeRest(cloud: cloud, ledger: ledger, devices: devices).faults().map { "\(name): \($0)" }
    }

    func text(_ path: String, on index: Int = 0) -> String? {
        devices[index].device.files()[path].map { String(decoding: $0, as: UTF8.self) }
    }
}
