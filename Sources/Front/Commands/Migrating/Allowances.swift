import Files
import JSON
import ManagedModel
import Migration

/// The losses that `--allow-loss` and `--allow-loss-file` allow, with where each was named.
struct Allowances: Sendable, Equatable {
  /// `Entity`, `Entity.property` or `wal`.
  private(set) var names: Set<String> = []
  /// The file and line of those that a file names.
  private var places: [String: String] = [:]

  static let help = """
    A file for --allow-loss-file has one name per line, with comments after #:
      Recipe.legacyCode        # reviewed: nothing reads it since 2.0
      Draft
    or is a JSON5 list of names: ["Recipe.legacyCode", "Draft"].
    """

  /// - Throws: ``CoreDataError`` of kind usage for a file that is no list of names, with the line.
  init(_ arguments: Arguments) throws {
    names = Set(arguments[.allowLoss])
    for path in arguments[.allowLossFile] {
      for (name, line) in try Self.read(try InputText.text(of: path), path)
      where names.insert(name).inserted {
        places[name] = "\(path):\(line)"
      }
    }
  }

  /// What a name is called in a message: by its option, or by its place in a file.
  func label(of name: String) -> String {
    places[name].map { "\($0): \(name)" } ?? "--allow-loss \(name)"
  }

  private static func read(_ text: String, _ path: String) throws -> [(name: String, line: Int)] {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let first = lines.lazy.map { content(of: $0) }.first { !$0.isEmpty && !$0.hasPrefix("//") }
    if let first, first.hasPrefix("[") { return try list(text, path) }
    return try lines.enumerated().compactMap { index, line in
      let name = content(of: line)
      guard !name.isEmpty else { return nil }
      guard !name.contains(where: { $0.isWhitespace || "{}[]\",:".contains($0) }) else {
        throw wrong("“\(name)” is not the name of a loss", path, index + 1)
      }
      return (name, index + 1)
    }
  }

  /// A line without its comment.
  private static func content(of line: Substring) -> String {
    line.prefix { $0 != "#" }.trimmed
  }

  private static func list(_ text: String, _ path: String) throws -> [(name: String, line: Int)] {
    let bytes = Array(text.utf8)
    func line(_ place: Int) -> Int { bytes.prefix(max(0, place)).count { $0 == 10 } + 1 }
    let json: JSON5
    do {
      json = try JSON5.read(bytes)
    } catch {
      throw wrong(error.message, path, line(error.range.lowerBound))
    }
    guard case .array(let elements) = json.kind else {
      throw wrong("a list of names is expected", path, 1)
    }
    return try elements.map { element in
      guard case .string(let name, _) = element.kind, !name.isEmpty else {
        throw wrong(
          "a loss is named by text in quotes, not \(element.name)", path,
          line(element.range.lowerBound))
      }
      return (name, line(element.range.lowerBound))
    }
  }

  private static func wrong(_ message: String, _ path: String, _ line: Int) -> CoreDataError {
    CoreDataError(
      .usage, "\(message) (line \(line))", path: path,
      hint: "Write one name per line, such as Recipe.legacyCode, with comments after #.")
  }
}

extension OutputPlace {
  /// Refuses a place where nothing may be written, and a file that is there.
  static func requireFree(_ path: String, for what: String, besides stores: [String]) throws {
    if let refusal = refusal(toWrite: what, at: path, besides: stores) { throw refusal }
    guard FileIdentity(of: path) == nil else {
      throw CoreDataError(
        .usage, "the file is there already", path: path,
        hint: "Name another file for \(what): none is overwritten.")
    }
  }
}

/// `--write-losses FILE`: what would have to be allowed, as `--allow-loss-file` takes it.
struct LossOutput {
  static let option = Option(
    "write-losses", "FILE", .file,
    "write what would be lost to this file, to review and pass with --allow-loss-file")

  /// A name that allows a loss, with what goes.
  typealias Line = (name: String, remark: String)

  private let path: String

  /// `nil` where it was not asked for.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a place where no list may be written, and for a file
  ///   that is there.
  init?(_ arguments: Arguments, stores: [String]) throws {
    guard let path = arguments[Self.option] else { return nil }
    try OutputPlace.requireFree(path, for: "the list of losses", besides: stores)
    self.path = path
  }

  /// Writes what a plan would lose, and the recipe does not ask for.
  func write(_ losses: [Loss], of store: String, _ console: Console) throws {
    let lines = losses.filter { !$0.isIntended }.map { loss -> Line in
      let such = loss.samples.isEmpty ? "" : ", such as " + loss.samples.joined(separator: ", ")
      return (loss.name, "\(NumberText.grouped(loss.values)) \(loss.noun)\(such)")
    }
    try write(lines, of: store, console)
  }

  /// Writes a line for each loss; none where nothing would be lost.
  func write(_ lines: [Line], of place: String, _ console: Console) throws {
    guard !lines.isEmpty else {
      return console.note("note: nothing would be lost: \(path) was not written")
    }
    let width = lines.map(\.name.count).max() ?? 0
    let text =
      "# What \(place.printable) would lose. Remove the lines that must not be lost, and pass the file with --allow-loss-file.\n"
      + lines.map { "\($0.name.padded(to: width + 2))# \($0.remark.printable)\n" }.joined()
    try FileSystem.create(path, holding: Array(text.utf8))
    console.note("wrote \(path): \(NumberText.counted(lines.count, "loss", plural: "losses"))")
  }
}

extension Allowances: ExpressibleByArrayLiteral {
  init(arrayLiteral names: String...) { self.names = Set(names) }
}

extension MigrationPlan {
  /// Looks at the names of losses that `--allow-loss` allowed: one that no loss has was mistyped.
  ///
  /// - Parameters:
  ///   - allowances: the names, with where they were given.
  ///   - others: further versions of the model whose names are no mistake, such as those that other
  ///     stores of one run are of.
  /// - Returns: of those that allow nothing here, why, as sentences.
  /// - Throws: ``CoreDataError`` of kind usage for a name that no version has, with the nearest.
  func unusedAllowances(
    _ allowances: Allowances, knownTo others: [Model] = []
  ) throws -> [String] {
    var models = steps.map(\.source) + steps.suffix(1).map(\.destination)
    if let wholeDestination { models.append(wholeDestination) }
    let used = Set(losses.flatMap { [$0.name, $0.entity] })
    return try allowances.names.subtracting(used).sorted().map { name in
      let label = allowances.label(of: name)
      try Self.requireKnown(name, label, in: models + others)
      return "\(label) allows nothing: nothing of it would be lost"
        + (inheritor(of: name).map { "; the loss is named \($0)" } ?? "")
    }
  }

  /// The loss that was meant by naming a property of an entity that inherits it.
  private func inheritor(of name: String) -> String? {
    let (entity, property) = Self.parts(of: name)
    guard let property else { return nil }
    return losses.first { loss in
      loss.property == property
        && steps.contains { $0.source.lineage(of: entity).contains { $0.name == loss.entity } }
    }?.name
  }

  private static func parts(of name: String) -> (entity: String, property: String?) {
    guard let dot = name.firstIndex(of: ".") else { return (name, nil) }
    return (String(name[..<dot]), String(name[name.index(after: dot)...]))
  }

  private static func requireKnown(
    _ name: String, _ label: String, in models: [Model]
  ) throws {
    if name == Loss.logName || name == Loss.journalName { return }
    let (entity, property) = parts(of: name)
    let holders = models.filter { $0.entity(named: entity) != nil }
    guard !holders.isEmpty else {
      throw CoreDataError(
        .usage, "\(label): no version of the model has an entity “\(entity)”",
        hint: Nearest.question(entity, in: models.flatMap { $0.entities.map(\.name) }) { near in
          property.map { "\(near).\($0)" } ?? near
        } ?? "Name what the plan says is lost: strata plan lists it.")
    }
    // A column that no model knows is named as the store does: `Entity.ZCOLUMN`.
    guard let property, !property.hasPrefix("Z") || property != property.uppercased() else {
      return
    }
    let names = holders.flatMap { $0.names(of: .property, in: entity) }
    // An element of a composite attribute is named behind it.
    let first = String(property.prefix { $0 != "." })
    guard !names.contains(property), !names.contains(first) else { return }
    throw CoreDataError(
      .usage, "\(label): \(entity) has no property “\(property)” in any version",
      hint: Nearest.question(property, in: names) { "\(entity).\($0)" }
        ?? "Name what the plan says is lost: strata plan lists it.")
  }
}
