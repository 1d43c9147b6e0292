import Gate
import Glibc
import Web

/// What a run of the self-test goes by.
struct SelfTestSettings: Sendable {
  let gate: GateConfiguration
  let policy: Policy
  let category: Category
  let service: ServiceClient
  /// For each step: a request, a document on its topic, a decision, a record in the index.
  let stepTimeoutMs: Int
  private static let tokenBytesMax = 1_024

  init(_ arguments: ParsedArguments) throws(CommandFailure) {
    let settings = try arguments.loadSettings()
    gate = try GateConfiguration(settings)
    policy = try PolicyFile.read(gate.policyFile)
    category = Self.category(policy)
    stepTimeoutMs = (arguments.integer("step-timeout-seconds") ?? 15) * 1_000
    service = ServiceClient(
      address: try Self.address(arguments.text("url"), settings),
      token: try Self.token(arguments.requiredText("token-file")),
      caFile: arguments.text("ca-file"), timeoutMs: stepTimeoutMs)
  }

  /// What is capped would be capped for the self-test too, once it has run often enough. Security
  /// never is.
  static func category(_ policy: Policy) -> Category {
    policy.hasCap(on: .transactional) ? .security : .transactional
  }

  private static func address(
    _ url: String?, _ settings: Settings
  ) throws(CommandFailure) -> ServiceAddress {
    func text(_ key: String) -> String { settings.byKey[key]!.value }
    let scheme = text("serve.tls.certificate.file").isEmpty ? "http" : "https"
    let given = url ?? "\(scheme)://\(text("serve.address"))"
    guard let address = ServiceAddress(given) else {
      throw .usage(
        "--url \(WebAddress.problem(given) ?? "wants an address"); got '\(given)'"
          + (url == nil ? ", made of serve.address" : ""))
    }
    return address
  }

  /// Not on the command line, where everybody on the machine reads it.
  private static func token(_ path: String) throws(CommandFailure) -> String {
    let bytes = try FileIO.read(path, bytesMax: tokenBytesMax)
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        ExitCode.configuration,
        "the token file \(path) is open to others than its owner: chmod 600 it")
    }
    let text = String(decoding: bytes, as: UTF8.self)
    let words = text.split(whereSeparator: \.isWhitespace)
    guard words.count == 1, words[0].utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw CommandFailure(
        ExitCode.configuration,
        "the token file \(path) does not hold one token, as sendgate token new prints it")
    }
    return String(words[0])
  }
}
