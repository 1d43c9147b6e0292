import Broker
import Glibc

/// `sendgate broker`: the test broker as a process.
enum BrokerCommand {
  static let command = Command(
    name: "broker",
    summary: "run a small Kafka broker for demos and tests, never for production",
    details: """
      One node, no replication, no access control. It listens on 127.0.0.1 only, prints the port, and
      ends at SIGTERM. What was acknowledged survives kill -9 where a folder is given, not a power
      cut; without one all is in memory.
      """,
    flags: [
      .integer("port", "N", 0...65_535, "listen on this port; 0, the default, takes a free one"),
      .text("data", "DIR", "keep everything in this folder"),
      .integer(
        "default-partitions", "N", 1...10_000,
        "partitions of topics created without a number (1)"),
      .toggle("auto-create", "create topics that clients ask for"),
      .text(
        "topic-default", "KEY=VALUE", "a topic setting for all topics, such as segment.ms=1000",
        isRepeatable: true),
      .text("inject", "FILE", "make things go wrong by this plan; SIGHUP reads it again"),
      .integer(
        "rebalance-delay", "MS", 0...600_000,
        "wait for more members before a group's first rebalance (0)"),
      .integer(
        "min-session-ms", "MS", 1...1_800_000,
        "the shortest session time-out that members may ask for (6000)"),
      .integer(
        "marker-delay", "MS", 0...600_000,
        "write transaction markers this long after EndTxn (0)"),
      .integer(
        "log-check-ms", "MS", 1...3_600_000, "how often retention and compaction run (1000)"),
      .integer("seed", "N", 0...Int.max, "seed of member ids and of injection by chance (1)"),
    ],
    run: { (arguments) throws(CommandFailure) in try serve(Options(arguments)) })

  private struct Options {
    var config = BrokerConfig()
    var port: UInt16
    var data: String?
    var plan: String?

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
      port = UInt16(arguments.integer("port") ?? 0)
      data = arguments.text("data")
      plan = arguments.text("inject")
      config.autoCreateTopics = arguments.has("auto-create")
      for setting in arguments.texts("topic-default") {
        let parts = setting.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, BrokerConfig.isTopicSetting(parts[0], parts[1]) else {
          throw .usage("--topic-default: \(setting) is no topic setting of Kafka's")
        }
        config.topicDefaults[parts[0]] = parts[1]
      }
      func set<T: FixedWidthInteger>(_ name: String, _ field: WritableKeyPath<BrokerConfig, T>) {
        if let value = arguments.integer(name) { config[keyPath: field] = T(value) }
      }
      set("default-partitions", \.defaultPartitions)
      set("rebalance-delay", \.groupInitialRebalanceDelayMs)
      set("min-session-ms", \.groupMinSessionTimeoutMs)
      set("marker-delay", \.transactionMarkerDelayMs)
      set("log-check-ms", \.logCheckIntervalMs)
      set("seed", \.seed)
    }
  }

  /// - Returns: 0, 69 when it cannot listen, 74 when the data folder fails, 78 for a plan that cannot
  ///   be read.
  private static func serve(_ options: Options) throws(CommandFailure) -> Int32 {
    let disk = options.data.map { folder in
      FolderDisk(root: folder) { reason in
        complain("data folder: \(reason)")
        exit(ExitCode.ioError)
      }
    }
    BrokerServer.keepMemory()
    let server: BrokerServer
    do throws(BrokerServer.SetupError) {
      server = try BrokerServer(config: options.config, disk: disk, port: options.port)
    } catch {
      throw CommandFailure(ExitCode.unavailable, "\(error)")
    }
    server.log = complain
    if let file = options.plan {
      server.core.inject(try readPlan(file))
      server.onHangup = { [core = server.core] in
        do throws(CommandFailure) {
          core.inject(try readPlan(file))
        } catch {
          complain("the plan stays as it was: \(error)")
        }
      }
    }
    server.takeSignals()
    Process.print(
      "test broker (not for production) listening on 127.0.0.1:\(server.port)\n",
      to: STDOUT_FILENO)
    server.run()
    return ExitCode.ok
  }

  private static let planBytesMax = 1 << 20

  private static func readPlan(_ file: String) throws(CommandFailure) -> InjectionPlan {
    let text = String(decoding: try FileIO.read(file, bytesMax: planBytesMax), as: UTF8.self)
    do throws(PlanError) {
      return try InjectionPlan(parsing: text)
    } catch {
      throw CommandFailure(ExitCode.configuration, "\(file): \(error)")
    }
  }

  private static func complain(_ text: String) {
    Process.print("broker: \(text)\n", to: STDERR_FILENO)
  }
}
