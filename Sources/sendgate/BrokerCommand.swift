import Broker
import Glibc

/// `sendgate broker`: the test broker as a process.
enum BrokerCommand {
  static let help = """
    usage: sendgate broker [--port N] [--data DIR] [options]

    A small Kafka broker for demos, tests and simulation. It is not for production: one node, no
    replication, no access control. It listens on 127.0.0.1 only. SIGTERM ends it.

      --port N               listen on this port; 0, the default, takes a free one and prints it
      --data DIR             keep everything in this folder; what was acknowledged survives
                             kill -9, not a power cut. Without it all is in memory.
      --default-partitions N partitions of topics created without a number (default 1)
      --auto-create          create topics that clients ask for
      --topic-default K=V    a topic setting for all topics, such as segment.ms=1000
      --inject FILE          make things go wrong by this plan; SIGHUP reads it again
      --rebalance-delay MS   wait for more members before a group's first rebalance (default 0)
      --min-session-ms MS    the shortest session time-out that members may ask for (default 6000)
      --marker-delay MS      write transaction markers this long after EndTxn (default 0)
      --log-check-ms MS      how often retention and compaction run (default 1000)
      --seed N               seed of member ids and of injection by chance (default 1)
      --help                 this text

    """

  private struct Options {
    var config = BrokerConfig()
    var port: UInt16 = 0
    var data: String?
    var plan: String?
  }

  private struct UsageError: Error { var text: String }

  /// - Returns: the process's exit code: 0, 64 for usage, 69 when it cannot listen, 74 when the
  ///   data folder fails, 78 for a plan that cannot be read.
  static func run(arguments: [String]) -> Int32 {
    if arguments.contains("--help") || arguments.contains("-h") {
      print(help, terminator: "")
      return 0
    }
    do throws(UsageError) {
      return serve(try parse(arguments))
    } catch {
      complain("\(error.text)\nTry sendgate broker --help.")
      return 64
    }
  }

  private static func parse(_ arguments: [String]) throws(UsageError) -> Options {
    var options = Options()
    var rest = arguments[...]
    while let flag = rest.popFirst() {
      if flag == "--auto-create" {
        options.config.autoCreateTopics = true
        continue
      }
      guard let value = rest.popFirst() else {
        throw UsageError(text: "\(flag) is unknown or needs a value")
      }
      func number<T: FixedWidthInteger>(_ range: ClosedRange<T>) throws(UsageError) -> T {
        guard let number = T(value), range.contains(number) else {
          throw UsageError(
            text: "\(flag): \(value) is not between \(range.lowerBound) and \(range.upperBound)")
        }
        return number
      }
      switch flag {
      case "--port": options.port = try number(0...UInt16.max)
      case "--data": options.data = value
      case "--default-partitions": options.config.defaultPartitions = try number(1...10_000)
      case "--topic-default":
        let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2, BrokerConfig.isTopicSetting(parts[0], parts[1]) else {
          throw UsageError(text: "\(flag): \(value) is no topic setting of Kafka's")
        }
        options.config.topicDefaults[parts[0]] = parts[1]
      case "--inject": options.plan = value
      case "--rebalance-delay":
        options.config.groupInitialRebalanceDelayMs = try number(0...600_000)
      case "--min-session-ms": options.config.groupMinSessionTimeoutMs = try number(1...1_800_000)
      case "--marker-delay": options.config.transactionMarkerDelayMs = try number(0...600_000)
      case "--log-check-ms": options.config.logCheckIntervalMs = try number(1...3_600_000)
      case "--seed": options.config.seed = try number(0...UInt64.max)
      default: throw UsageError(text: "\(flag) is unknown")
      }
    }
    return options
  }

  private static func serve(_ options: Options) -> Int32 {
    let disk = options.data.map { folder in
      FolderDisk(root: folder) { reason in
        complain("data folder: \(reason)")
        exit(74)
      }
    }
    let server: BrokerServer
    do throws(BrokerServer.SetupError) {
      server = try BrokerServer(config: options.config, disk: disk, port: options.port)
    } catch {
      complain("\(error)")
      return 69
    }
    server.log = complain
    if let file = options.plan {
      guard let plan = readPlan(file) else { return 78 }
      server.core.inject(plan)
      server.onHangup = { [core = server.core] in
        if let plan = readPlan(file) { core.inject(plan) }
      }
    }
    server.takeSignals()
    print("test broker (not for production) listening on 127.0.0.1:\(server.port)")
    fflush(nil)
    server.run()
    return 0
  }

  private static func readPlan(_ file: String) -> InjectionPlan? {
    guard let handle = fopen(file, "r") else {
      complain("cannot read \(file): \(String(cString: strerror(errno)))")
      return nil
    }
    defer { fclose(handle) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&buffer, 1, buffer.count, handle), count > 0 {
      bytes.append(contentsOf: buffer[..<count])
    }
    do throws(PlanError) {
      return try InjectionPlan(parsing: String(decoding: bytes, as: UTF8.self))
    } catch {
      complain("\(file): \(error)")
      return nil
    }
  }

  private static func complain(_ text: String) {
    let line = Array("broker: \(text)\n".utf8)
    _ = write(2, line, line.count)
  }
}
