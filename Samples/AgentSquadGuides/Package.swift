// swift-tools-version: 6.2
import PackageDescription

// The samples of the guides for chat storage, as they stand there: a package of its own, as an app would be.
let package = Package(
    name: "AgentSquadGuides",
    platforms: [.iOS(.v17), .macOS(.v14)],
    dependencies: [.package(name: "recollect", path: "../..")],
    targets: [
        .target(name: "AgentSquadGuides", dependencies: [.product(name: "AgentSquad", package: "recollect")]),
        .testTarget(
            name: "AgentSquadGuidesTests",
            dependencies: ["AgentSquadGuides", .product(name: "RecollectTesting", package: "recollect")]),
    ],
    swiftLanguageModes: [.v6]
)
