// swift-tools-version: 6.2
import PackageDescription

// Every Swift target: language mode 6, warnings are errors, existentials spelled out.
// Across a module wall a call on the hot path measured 1.6 times the cost of one inside it;
// cross-module optimisation in release builds brings it back.
let swift: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]
// The gate's classes are reached from one thread each; asking the runtime on every access whether
// another one is under way costs a record 3 % of its instructions. Debug builds, and so the tests,
// still ask.
let hot: [SwiftSetting] =
  swift + [.unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release))]
let c: [CSetting] = [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]
let cxx: [CXXSetting] = [.unsafeFlags(["-O2", "-Wall", "-Wextra", "-Werror"])]

let package = Package(
  name: "sendgate",
  products: [.executable(name: "sendgate", targets: ["sendgate"])],
  traits: [
    .trait(
      name: "PlantedBugs",
      description: "gates that are wrong in one way each, for the simulation to find")
  ],
  targets: [
    // C faces: the only places that see a C library's headers.
    .target(name: "CKafka", cSettings: c, linkerSettings: [.linkedLibrary("rdkafka")]),
    .target(name: "CJSON", cxxSettings: cxx, linkerSettings: [.linkedLibrary("simdjson")]),
    .target(name: "CCrypto", cSettings: c, linkerSettings: [.linkedLibrary("crypto")]),
    .target(
      name: "CTLS", cSettings: c, linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    .target(name: "CHTTP", cSettings: c, linkerSettings: [.linkedLibrary("microhttpd")]),
    .target(name: "CShims", cSettings: c),
    // The contracts that are served, taken from deploy/contracts when this is compiled.
    .target(
      name: "CContracts",
      cSettings: [.unsafeFlags(["-Wall", "-Wextra", "-Werror", "-Wno-c23-extensions"])]),
    .target(name: "CLZ4", cSettings: c, linkerSettings: [.linkedLibrary("lz4")]),
    .target(name: "CSQLite", cSettings: c, linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "CPostgres", cSettings: c, linkerSettings: [.linkedLibrary("pq")]),
    .target(name: "CBroker", cSettings: c, linkerSettings: [.linkedLibrary("lz4")]),

    .target(name: "Gate", dependencies: ["CJSON", "CCrypto", "CShims"], swiftSettings: hot),
    .target(name: "Telemetry", swiftSettings: swift),
    .target(
      name: "Pipeline", dependencies: ["Gate", "Telemetry", "CLZ4", "CShims"], swiftSettings: swift),
    .target(name: "Kafka", dependencies: ["CKafka", "Telemetry"], swiftSettings: swift),
    .target(
      name: "Consumer", dependencies: ["Kafka", "Pipeline", "Gate", "Telemetry"],
      swiftSettings: swift),
    .target(
      name: "Producer", dependencies: ["Kafka", "Pipeline", "Gate", "Telemetry"],
      swiftSettings: swift),
    .target(
      name: "Preferences",
      dependencies: [
        "Gate", "Telemetry", "Kafka", "Pipeline", "CSQLite", "CPostgres", "CCrypto",
      ],
      swiftSettings: swift),
    .target(
      name: "Evidence",
      dependencies: ["Preferences", "Kafka", "Pipeline", "Gate", "Telemetry", "CLZ4"],
      swiftSettings: swift),
    .target(
      name: "Web",
      dependencies: [
        "CHTTP", "CCrypto", "CContracts", "Gate", "Preferences", "Evidence", "Telemetry",
      ],
      swiftSettings: swift),
    .target(name: "Broker", dependencies: ["CBroker"], swiftSettings: swift),
    .target(name: "CSimulation", cSettings: c),
    .target(
      name: "Simulation", dependencies: ["Broker", "Pipeline", "Gate", "CSimulation"],
      swiftSettings: swift),
    .executableTarget(
      name: "sendgate",
      dependencies: [
        "Gate", "Telemetry", "Pipeline", "Kafka", "Consumer", "Producer", "Preferences", "Evidence",
        "Web", "Broker", "Simulation", "CCrypto", "CTLS",
      ],
      swiftSettings: swift),

    // Measured and checked with nothing linked but the gate.
    .target(name: "CAllocations", path: "Benchmarks/CAllocations", cSettings: c),
    .target(
      name: "Workload", dependencies: ["Gate"], path: "Benchmarks/Workload",
      swiftSettings: swift),
    .executableTarget(
      name: "kernel-bench", dependencies: ["Gate", "Workload", "CAllocations"],
      path: "Benchmarks/Kernel", swiftSettings: swift),
    .executableTarget(
      name: "alloc-check", dependencies: ["Gate", "Workload", "CAllocations"],
      path: "Benchmarks/AllocationCheck", swiftSettings: swift),
    .executableTarget(
      name: "holds-bench", dependencies: ["Pipeline", "Gate"], path: "Benchmarks/Holds",
      swiftSettings: swift),
    .executableTarget(
      name: "store-bench",
      dependencies: ["Preferences", "Evidence", "Pipeline", "Gate", "Telemetry", "CSQLite"],
      path: "Benchmarks/Store", swiftSettings: swift),
    .executableTarget(
      name: "bench-floor", path: "Benchmarks/Floor", cSettings: c,
      linkerSettings: [.linkedLibrary("rdkafka")]),

    // What tests of several targets share.
    .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: swift),
    .testTarget(
      name: "GateTests", dependencies: ["Gate"], exclude: ["ZonesFixtures"],
      swiftSettings: swift),
    .testTarget(name: "TelemetryTests", dependencies: ["Telemetry"], swiftSettings: swift),
    .testTarget(
      name: "PipelineTests", dependencies: ["Pipeline", "Gate", "TestSupport"], swiftSettings: swift
    ),
    .testTarget(
      // CKafka: to compare with librdkafka's own partitioner, and for its mock cluster.
      name: "KafkaTests",
      dependencies: ["Kafka", "CKafka", "Consumer", "Producer", "Pipeline", "Gate"],
      swiftSettings: swift),
    .testTarget(
      // store-bench: to be killed while it writes.
      name: "PreferencesTests",
      dependencies: [
        "Preferences", "Pipeline", "Gate", "Kafka", "Telemetry", "Broker", "CSQLite", "store-bench",
        "TestSupport",
      ],
      swiftSettings: swift),
    .testTarget(
      name: "EvidenceTests",
      dependencies: [
        "Evidence", "Preferences", "Pipeline", "Gate", "Kafka", "Telemetry", "Broker",
        "TestSupport",
      ],
      swiftSettings: swift),
    .testTarget(
      name: "WebTests",
      dependencies: [
        "Web", "Evidence", "Preferences", "Pipeline", "Gate", "Telemetry", "TestSupport",
      ],
      swiftSettings: swift),
    .testTarget(
      name: "BrokerTests", dependencies: ["Broker"],
      exclude: ["Vectors", "process_test.py", "wire", "wire_test.py"], swiftSettings: swift),
    .testTarget(
      name: "SimulationTests", dependencies: ["Simulation"], swiftSettings: swift),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "sendgate", "Gate", "Kafka", "Telemetry", "Broker", "Web", "Preferences", "Evidence",
        "Pipeline", "TestSupport",
      ],
      exclude: ["Snapshots"], swiftSettings: swift),
  ],
  cLanguageStandard: .gnu11,
  cxxLanguageStandard: .cxx17
)
