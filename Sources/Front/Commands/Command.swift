/// A subcommand: everything its usage, its help and its completions are made from, and what it does.
package struct Command: Sendable {
  package typealias Run = @Sendable (Arguments, Console) throws -> CommandStatus

  package enum Group: String, CaseIterable, Sendable {
    case look, compare, migrate, rescue
    case tryOut = "try"
    case shell
  }

  /// What it does to the stores that it is given.
  package enum Effect: Sendable {
    case readsStore
    /// It puts something in the store's place, or beside it.
    case changesStore
    /// The same, unless `--output` names another file.
    case changesStoreWithoutOutput
  }

  package let name: String
  package let group: Group
  package let summary: String
  package let arguments: [Declaration]
  package let options: [Declaration]
  /// What else help shows, such as the form of a file; empty where options say all.
  package let details: String
  package let example: String
  /// What its statuses besides 0, 2 and 4 say; empty where it has none.
  package let statuses: String
  let effect: Effect
  /// Whether it reads XML and binary stores as they are: all others get a private copy of the SQLite type.
  let readsAtomicStores: Bool
  /// Why there is nothing for it to do with an XML or binary store, as what follows the kind of store; `nil` where
  /// there is.
  let atomicRefusal: String?
  package let run: Run

  package init(
    _ name: String, _ group: Group, _ summary: String, arguments: [any Parameter] = [],
    options: [any Parameter] = [], details: String = "", example: String, statuses: String = "",
    effect: Effect = .readsStore, readsAtomicStores: Bool = false,
    atomicRefusal: String? = nil, run: @escaping Run
  ) {
    self.name = name
    self.group = group
    self.summary = summary
    self.arguments = arguments.map(\.declaration)
    let own = options.map(\.declaration)
    // What may lie in a container may lie in an encrypted one; what a shell asks for is never asked a password.
    let isAnyInContainer = (self.arguments + own).contains {
      !$0.isHidden && ($0.kind == .store || $0.kind == .model)
    }
    self.options =
      own + (isAnyInContainer ? [Option.passwordFile.declaration] : []) + Self.common
    self.details = details
    self.example = example
    self.statuses = statuses
    self.effect = effect
    self.readsAtomicStores = readsAtomicStores
    self.atomicRefusal = atomicRefusal
    self.run = run
  }

  /// Options of every command.
  package static let common = [Option.color.declaration, Option.help.declaration]

  /// The options that help shows.
  package var shownOptions: [Declaration] { options.filter { !$0.isHidden } }

  /// Those that only some commands have.
  package var ownOptions: [Declaration] {
    let common = Self.common.map(\.name)
    return shownOptions.filter { !common.contains($0.name) }
  }

  /// `strata rows STORE ENTITY [--sort KEY[:desc]] …`
  var synopsis: String {
    var parts = ["strata", name].filter { !$0.isEmpty }
    parts += arguments.map { $0.isRequired ? $0.name : "[\($0.name)]" }
    for option in ownOptions {
      let usage = option.isRequired ? option.usage : "[\(option.usage)]"
      parts.append(usage + (option.isRepeatable ? "…" : ""))
    }
    return parts.joined(separator: " ")
  }

  package var help: String {
    let width = shownOptions.map(\.usage.count).max() ?? 0
    let lines = shownOptions.map { option in
      let choices =
        option.choices.isEmpty ? "" : " (" + option.choices.joined(separator: ", ") + ")"
      return "  \(option.usage.padded(to: width + 2))\(option.help)\(choices)"
    }
    return """
      \(summary)

      usage: \(synopsis)

      \(lines.joined(separator: "\n"))
      \(details.isEmpty ? "" : "\n" + details + "\n")
      example: \(example)
      \(statuses.isEmpty ? "" : "exit status: \(statuses)\n")
      """
  }
}

/// What a command reports to the shell.
package enum CommandStatus: Int32, Sendable, CaseIterable {
  /// Done, and the answer is yes.
  case done = 0
  /// The answer is no: models differ, a store does not fit.
  case no = 1
  case usage = 2
  /// Values would be lost, or a check against the data failed.
  case refused = 3
  case unreadable = 4
  /// A migration failed; the store is as it was.
  case failed = 5
  case cancelled = 130

  /// What it means, as the manual says it.
  package var meaning: String {
    switch self {
    case .done: "Done, and the answer is yes."
    case .no:
      "The answer is no: models or stores differ, the store does not fit or something is wrong with it, an expectation does not hold, or there is no store."
    case .usage: "Wrong usage."
    case .refused:
      "Refused: values would be lost, a check failed, or there is no migration path. With several stores, the most serious status is returned."
    case .unreadable: "The input is unreadable or damaged."
    case .failed:
      "It failed, or another program holds the store; the store is unchanged."
    case .cancelled: "Cancelled; the store is unchanged."
    }
  }
}
