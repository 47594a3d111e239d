// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "recollect",
    platforms: [.iOS(.v17), .macOS(.v14)],
    products: [
        .library(name: "Recollect", targets: ["Recollect"]),
        .library(name: "RecollectCore", targets: ["RecollectCore"]),
        .library(name: "RecollectSQLite", targets: ["RecollectSQLite"]),
        .library(name: "RecollectPostgres", targets: ["RecollectPostgres"]),
        .library(name: "RecollectAgents", targets: ["RecollectAgents"]),
        .library(name: "RecollectBuiltInAgents", targets: ["RecollectBuiltInAgents"]),
        .library(name: "RecollectWorkspace", targets: ["RecollectWorkspace"]),
        .library(name: "RecollectApple", targets: ["RecollectApple"]),
        .library(name: "RecollectModels", targets: ["RecollectModels"]),
        .library(name: "RecollectObservation", targets: ["RecollectObservation"]),
        .library(name: "RecollectTranscripts", targets: ["RecollectTranscripts"]),
        .library(name: "RecollectClaudeCodeUI", targets: ["RecollectClaudeCodeUI"]),
        .library(name: "RecollectTesting", targets: ["RecollectTesting"]),
        .library(name: "AgentSquad", targets: ["AgentSquad"]),
        .library(name: "ClaudeCodeCore", targets: ["ClaudeCodeCore"]),
        .executable(name: "recall", targets: ["RecollectCLI"]),
    ],
    traits: [
        .trait(
            name: "AsyncHTTPClient",
            description:
                "Builds the transport of `RecollectModels` for servers on Linux, and with it async-http-client."),
        .trait(
            name: "CommandLine",
            description: "Builds the command `recall`, and with it resolves swift-argument-parser and Yams."),
        .trait(
            name: "Postgres",
            description:
                "Builds `RecollectPostgres`, links libpq, the client library of PostgreSQL, and resolves swift-metrics and swift-distributed-tracing."
        ),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.0.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.7.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.3.0"),
    ],
    targets: [
        .target(name: "CRecollectFileSystem"),
        .target(name: "RecollectFileSystem", dependencies: ["CRecollectFileSystem"]),
        .target(
            name: "RecollectCore",
            dependencies: [
                "RecollectFileSystem",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(name: "RecollectSearch", dependencies: ["RecollectCore"]),
        .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(name: "CRecordingVFS", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "RecollectSQLite",
            dependencies: [
                "RecollectCore", "RecollectFileSystem", "RecollectSearch", "CSQLite",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .systemLibrary(
            name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .target(
            name: "RecollectPostgres",
            dependencies: [
                "RecollectCore", "RecollectSearch", .target(name: "CLibpq", condition: .when(traits: ["Postgres"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Postgres"])),
                .product(name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Postgres"])),
            ]),
        .target(
            name: "RecollectAgents",
            dependencies: ["RecollectCore", "RecollectFileSystem", .product(name: "Logging", package: "swift-log")]),
        .target(
            name: "RecollectBuiltInAgents", dependencies: ["RecollectAgents", "RecollectCore", "RecollectFileSystem"]),
        .target(
            name: "RecollectWorkspace",
            dependencies: [
                "RecollectCore", "RecollectFileSystem",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
        .target(name: "RecollectApple", dependencies: ["RecollectCore", "RecollectWorkspace"]),
        .target(
            name: "RecollectModels",
            dependencies: [
                "RecollectAgents", "RecollectFileSystem",
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client",
                    condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"])),
            ]),
        .target(
            name: "Recollect",
            dependencies: ["RecollectCore", "RecollectSQLite", "RecollectAgents", "RecollectWorkspace"]),
        .target(name: "RecollectObservation", dependencies: ["RecollectCore"]),
        .target(name: "RecollectTranscripts", dependencies: ["RecollectCore"]),
        .target(
            name: "RecollectClaudeCodeUI",
            dependencies: [
                "RecollectCore", "RecollectFileSystem", "RecollectSQLite", "RecollectTranscripts",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]),
        .target(
            name: "RecollectTesting",
            dependencies: ["RecollectCore", "RecollectFileSystem", "RecollectWorkspace", "CRecordingVFS"]),
        .target(name: "AgentSquad", dependencies: ["Recollect"]),
        .target(name: "ClaudeCodeCore", dependencies: ["Recollect"]),
        .systemLibrary(name: "CEditLine", providers: [.apt(["libedit-dev"])]),
        .executableTarget(
            name: "RecollectCLI",
            dependencies: [
                "Recollect",
                "RecollectBuiltInAgents",
                "RecollectFileSystem",
                "RecollectModels",
                "RecollectPostgres",
                "RecollectTranscripts",
                "RecollectClaudeCodeUI",
                .target(name: "CEditLine", condition: .when(traits: ["CommandLine"])),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Yams", package: "Yams", condition: .when(traits: ["CommandLine"])),
                .product(
                    name: "ArgumentParser", package: "swift-argument-parser",
                    condition: .when(traits: ["CommandLine"])),
            ]),
        .executableTarget(
            name: "RecollectTestWorker",
            dependencies: [
                "RecollectCore", "RecollectSQLite", "RecollectPostgres", "RecollectAgents", "RecollectBuiltInAgents",
                "RecollectWorkspace", "RecollectFaults",
            ],
            path: "Tests/RecollectTestWorker"),
        .target(
            name: "RecollectFaults",
            dependencies: [
                "RecollectCore", "RecollectFileSystem", "RecollectSQLite", "RecollectTesting",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Tests/RecollectFaults"),
        .target(
            name: "RecollectTestSupport",
            dependencies: ["RecollectAgents", "RecollectCore", .product(name: "Logging", package: "swift-log")],
            path: "Tests/RecollectTestSupport"),
        .target(
            name: "RecollectTestServer",
            dependencies: ["RecollectCore", "RecollectTestSupport"],
            path: "Tests/RecollectTestServer"),
        .testTarget(name: "RecollectFileSystemTests", dependencies: ["RecollectFileSystem", "RecollectTestSupport"]),
        .testTarget(
            name: "RecollectCoreTests",
            dependencies: [
                "RecollectCore", "RecollectFileSystem", "RecollectTestSupport", "RecollectTestWorker",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "RecollectSQLiteTests",
            dependencies: [
                "RecollectFileSystem", "RecollectSearch", "RecollectSQLite", "RecollectTestSupport",
                "RecollectTestWorker",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Logging", package: "swift-log"),
            ],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "RecollectPostgresTests",
            dependencies: [
                "RecollectCore", "RecollectPostgres", "RecollectSQLite", "RecollectTestSupport", "RecollectTestWorker",
                "RecollectTesting",
                .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Postgres"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Postgres"])),
            ]),
        .testTarget(
            name: "RecollectAgentsTests",
            dependencies: ["RecollectAgents", "RecollectSQLite", "RecollectTestSupport", "RecollectTestWorker"],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "RecollectBuiltInAgentsTests",
            dependencies: [
                "RecollectAgents", "RecollectBuiltInAgents", "RecollectSQLite", "RecollectTestSupport",
                "RecollectTestWorker",
            ]),
        .testTarget(
            name: "RecollectWorkspaceTests",
            dependencies: [
                "RecollectFileSystem", "RecollectWorkspace", "RecollectTesting", "RecollectSQLite",
                "RecollectTestSupport", "RecollectTestWorker",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "RecollectModelsTests",
            dependencies: ["RecollectModels", "RecollectTestServer", "RecollectTestSupport"]),
        .testTarget(
            name: "RecollectTests",
            dependencies: [
                "Recollect", "RecollectBuiltInAgents", "RecollectClaudeCodeUI", "RecollectModels", "RecollectPostgres",
                "RecollectTranscripts", "RecollectTestServer",
            ]),
        .testTarget(name: "ClaudeCodeCoreTests", dependencies: ["ClaudeCodeCore"]),
        .testTarget(
            name: "RecollectTestingTests",
            dependencies: [
                "Recollect", "RecollectFileSystem", "RecollectSQLite", "RecollectTesting", "RecollectTestSupport",
                "RecollectFaults", "RecollectTestWorker",
                .product(name: "Logging", package: "swift-log"),
            ]),
        .testTarget(
            name: "RecollectObservationTests",
            dependencies: ["RecollectObservation", "RecollectSQLite", "RecollectTestSupport", "RecollectTestWorker"]),
        .testTarget(
            name: "RecollectTranscriptsTests",
            dependencies: ["RecollectTranscripts", "RecollectSQLite", "RecollectTestSupport"],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "RecollectClaudeCodeUITests",
            dependencies: [
                "RecollectClaudeCodeUI", "RecollectCore", "RecollectFileSystem", "RecollectSQLite",
                "RecollectTestSupport", "RecollectTranscripts",
            ],
            resources: [.copy("Fixtures")]),
        .testTarget(
            name: "RecollectCLITests",
            dependencies: [
                "RecollectCLI", "RecollectCore", "RecollectSQLite", "RecollectTestServer", "RecollectTestSupport",
                "RecollectTesting",
            ]),
    ],
    swiftLanguageModes: [.v6]
)

// `make test` and `make quick` run the tests with optimized libraries, in half the time: those with the most work in the tests, because
// optimization takes five times the time of a build. Other builds are not affected: SwiftPM refuses unsafe flags in a package used by
// version. `assert` stays active.
if Context.environment["RECOLLECT_OPTIMIZED"] != nil {
    let optimized: Set = [
        "RecollectCore", "RecollectFileSystem", "RecollectSearch", "RecollectSQLite", "RecollectWorkspace",
    ]
    for target in package.targets where optimized.contains(target.name) {
        target.swiftSettings = [.unsafeFlags(["-O", "-assert-config", "Debug"])]
    }
}
