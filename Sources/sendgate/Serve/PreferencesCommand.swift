import Gate
import Glibc
import Preferences
import Web

/// `sendgate preferences`: one user's, from the store itself.
enum PreferencesCommand {
  static let command = Command(
    name: "preferences",
    summary: "read, change, export or erase one user's preferences in the store",
    details: """
      get prints the user's document, with --device the settings of that device; export everything
      that is kept. set makes one choice, as an administrator unless --source says otherwise; erase
      takes everything away. The store is opened beside a running sendgate serve, which publishes what
      is changed; what only reads opens it for reading alone. Output is JSON, a line.
      """,
    operands: [
      Operand(name: "action", choices: ["get", "set", "export", "erase"], summary: "what to do")
    ],
    flags: RunFlags.configuration + [
      .text("user", "ID", "whose", isRequired: true),
      .text("device", "ID", "get: settings of this device; set: for this device alone"),
      .choice("category", Category.allCases.map { "\($0.name)" }, "set: of this category"),
      .choice("state", Choice.allCases.map { "\($0.name)" }, "set: to this"),
      .choice(
        "source", ChoiceSource.allCases.map { "\($0.name)" },
        "set: how it was made (admin_override)"),
    ],
    run: run)

  private static func run(_ arguments: ParsedArguments) throws(CommandFailure) -> Int32 {
    let user = try StoreCommands.id(arguments.requiredText("user"), "user")
    let device = try arguments.text("device").map { (text) throws(CommandFailure) in
      try StoreCommands.id(text, "device")
    }
    switch arguments.operands[0] {
    case "get": return try get(arguments, user, device)
    case "export":
      return try StoreCommands.read(arguments) { (service) throws(StoreError) in
        try service.export(user)
      }
    case "set": return try set(arguments, user, device)
    default: return try erase(arguments, user)
    }
  }

  private static func get(
    _ arguments: ParsedArguments, _ user: Identifier, _ device: Identifier?
  ) throws(CommandFailure) -> Int32 {
    try StoreCommands.read(arguments) { (service) throws(StoreError) in
      if let device { return try service.settings(of: user, device: device)?.text }
      guard let found = try service.user(user), found.version > 0 else { return nil }
      return PreferenceDocument.text(found)
    }
  }

  private static func set(
    _ arguments: ParsedArguments, _ user: Identifier, _ device: Identifier?
  ) throws(CommandFailure) -> Int32 {
    guard
      let category = Category.allCases.first(where: { "\($0.name)" == arguments.text("category") }),
      let state = Choice.allCases.first(where: { "\($0.name)" == arguments.text("state") })
    else { throw .usage("set wants --category and --state") }
    let source = arguments.text("source") ?? "\(ChoiceSource.adminOverride.name)"
    return try StoreCommands.apply(
      arguments, user,
      source: ChoiceSource.allCases.first { "\($0.name)" == source }!,
      .choiceSet(device.map { .device($0) } ?? .account, category, state))
  }

  private static func erase(
    _ arguments: ParsedArguments, _ user: Identifier
  ) throws(CommandFailure) -> Int32 {
    try StoreCommands.apply(arguments, user, source: nil, .userErased)
  }
}
