import Gate
import Glibc
import Preferences
import Web

/// `sendgate audit`: what was chosen when, how, and by which source, from the store itself.
enum AuditCommand {
  static let command = Command(
    name: "audit",
    summary: "tell what a user had chosen at an instant, or every transition",
    details: """
      With --category and --at: whether the user had opted in then, of the account and of --device
      since when, by which source, and the row that says so. With --sms and --at the same of SMS,
      which has a ledger of its own. Without --at every transition, a line each, in the order they
      were recorded. Output is JSON, the same as over HTTP; exit code 66 where nothing is kept of the
      user. The store is opened for reading alone.
      """,
    flags: RunFlags.configuration + [
      .text("user", "ID", "whose", isRequired: true),
      .choice("category", Category.allCases.map { "\($0.name)" }, "of this category"),
      .text("device", "ID", "also what was chosen on this device"),
      .toggle("sms", "the ledger of SMS"),
      .text("at", "INSTANT", "as 2025-11-03T00:00:00Z, or milliseconds since the epoch"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let user = try StoreCommands.id(arguments.requiredText("user"), "user")
    let category = Category.allCases.first { "\($0.name)" == arguments.text("category") }
    let device = try arguments.text("device").map { (text) throws(CommandFailure) in
      try StoreCommands.id(text, "device")
    }
    guard let at = arguments.text("at") else {
      guard device == nil, !arguments.has("sms") else {
        throw .usage("--device and --sms want --at")
      }
      return try list(arguments, user, category)
    }
    guard
      let atMs = Int64(at).flatMap({ Instant.readable.contains($0) ? $0 : nil })
        ?? Instant.parse(text: at)
    else {
      throw .usage("--at wants an instant of the years 2000 to 2200, as 2025-11-03T00:00:00Z")
    }
    if arguments.has("sms") {
      guard category == nil, device == nil else {
        throw .usage("--sms goes without --category and --device")
      }
      return try StoreCommands.read(arguments) { (service) throws(StoreError) in
        try service.smsConsent(of: user, atMs: atMs)
          .map { ConsentDocument.sms($0, user: user, atMs: atMs) }
      }
    }
    guard let category else { throw .usage("--at wants --category, or --sms") }
    return try StoreCommands.read(arguments) { (service) throws(StoreError) in
      try service.consent(of: user, category, device: device, atMs: atMs)
        .map { ConsentDocument.text($0, user: user, category: category, atMs: atMs) }
    }
  }

  private static func list(
    _ arguments: ParsedArguments, _ user: Identifier, _ category: Category?
  ) throws(CommandFailure) -> Int32 {
    try StoreCommands.read(arguments) { (service) throws(StoreError) in
      try service.audit(of: user, category, limit: Int.max)
        .map { rows in rows.map(AuditDocument.text).joined(separator: "\n") }
    }
  }
}
