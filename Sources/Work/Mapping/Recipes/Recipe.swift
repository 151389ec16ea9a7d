import Files
import JSON
import ManagedModel

/// A custom migration written down in a file: what becomes of entities, with values as SQL
/// expressions over the source's properties.
///
/// It does what a mapping model with policy classes does in an app, without the app. What it does
/// not mention is inferred. The format is JSON5; see <doc:Recipes>.
///
///     let recipe = try Recipe(path: "Diary to Diary 2.json5")
///     if let mapping = try recipe.mapping(from: old, to: new, names: ("Diary", "Diary 2")) {
///       …
///     }
public struct Recipe: Sendable, Equatable {
  /// Where the recipe was read from; errors name it.
  public let path: String
  let source: RecipeSource
  let document: RecipeDocument

  /// Reads a recipe from a file.
  ///
  /// - Throws: ``CoreDataError``: unreadable for a missing file; usage for a mistake in it, with its
  ///   line and column, and the words marked.
  public init(path: String) throws {
    let bytes = try FileSystem.read(path, limit: RecipeReader.maximumLength + 1)
    guard String(validating: bytes, as: UTF8.self) != nil else {
      throw CoreDataError(.usage, "the recipe is not text in UTF-8", path: path)
    }
    try self.init(text: String(decoding: bytes, as: UTF8.self), path: path)
  }

  /// Reads a recipe from text; `path` is what errors call it.
  ///
  /// - Throws: ``CoreDataError`` of kind usage, with line and column, and the words marked.
  public init(text: String, path: String) throws {
    try self.init(RecipeSource(text: text, path: path))
  }

  init(_ source: RecipeSource) throws {
    path = source.path
    self.source = source
    document = try RecipeReader.document(source)
  }

  /// Whether a file's bytes are meant as a recipe: other JSON may lie beside one.
  static func isLikely(_ bytes: [UInt8]) -> Bool {
    if let json = try? JSON5.read(bytes) {
      guard case .object(let members) = json.kind else { return false }
      let keys = Set(members.map(\.key))
      return !keys.isDisjoint(with: ["entityMappings", "policies", "rename"])
        || keys.isSuperset(of: ["from", "to"])
    }
    // With a mistake in it, it is better reported than ignored.
    return ["entityMappings", "policies"].contains { bytes.firstRange(of: Array($0.utf8)) != nil }
  }

  /// The versions that it leads from and to, as it calls them; `nil` for a recipe that only has
  /// stand-ins for policy classes, and serves any pair.
  public var isFor: (from: String, to: String)? {
    guard let from = document.from, let to = document.to else { return nil }
    return (from.text, to.text)
  }

  /// The names of the policy classes that it has stand-ins for.
  public var policies: [String] { document.policies.map(\.name.text) }

  /// Equal text in equal places.
  public static func == (left: Recipe, right: Recipe) -> Bool { left.source == right.source }

  /// The mapping between two models, with everything checked that can be without data: names,
  /// expressions, and that each change the recipe does not cover can be inferred.
  ///
  /// - Parameter names: what the two versions are called, beside their version identifiers, digests
  ///   and checksums; empty where they have no name.
  /// - Returns: `nil` when the recipe is for another pair of versions, or for none.
  /// - Throws: ``CoreDataError``: usage for a mistake in the recipe, with its place; refused, code
  ///   134190, naming entity and property for a change that is neither covered nor inferable, and
  ///   what to write for it.
  public func mapping(
    from source: Model, to destination: Model, names: (from: String, to: String) = ("", "")
  ) throws -> MappingModel? {
    guard leads(from: source, called: names.from), leads(to: destination, called: names.to)
    else { return nil }
    return try RecipeMapping(self, from: source, to: destination).mapping()
  }

  /// Puts the recipe's stand-ins in the place of the policy classes that a mapping model names,
  /// since those live in an app; classes it does not know stay as they are.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a mistake in a stand-in, with its place.
  public func standIn(
    in mapping: inout MappingModel, from source: Model, to destination: Model
  ) throws { try RecipeMapping(self, from: source, to: destination).standIn(in: &mapping) }

  /// Whether it leads from this version.
  ///
  /// - Parameter hashes: the version's, where they are known.
  func leads(
    from model: Model, called name: String, _ hashes: [String: VersionHash]? = nil
  ) -> Bool {
    isFor.map { Self.names($0.from, model, called: name, hashes) } ?? false
  }

  /// Whether it leads to this version.
  ///
  /// - Parameter hashes: the version's, where they are known.
  func leads(to model: Model, called name: String, _ hashes: [String: VersionHash]? = nil) -> Bool {
    isFor.map { Self.names($0.to, model, called: name, hashes) } ?? false
  }

  private static func names(
    _ reference: String, _ model: Model, called name: String, _ known: [String: VersionHash]?
  ) -> Bool {
    if reference == name || model.versionIdentifiers.contains(reference) { return true }
    let hashes = known ?? model.versionHashes
    return reference == Model.versionHashesDigest(of: hashes)
      || reference == Model.versionChecksum(of: hashes)
  }
}

/// What a recipe says, before it meets any model.
struct RecipeDocument: Sendable {
  /// Where a value comes from.
  enum Value: Sendable, Equatable {
    /// Computed; SQL unless it says otherwise.
    case expression(ValueExpression, RecipeWord)
    /// Copied from an attribute of that name.
    case source(RecipeWord)
    /// As if the attribute were new.
    case none
  }

  struct Attribute: Sendable {
    var name: RecipeWord
    var value: Value
    /// What a NULL becomes, as model files write it, where it is not what the model says.
    var defaultText: RecipeWord?
    /// Whether an expression stays one, also where it is a mere name.
    var isExact = false
  }

  struct Relationship: Sendable {
    var name: RecipeWord
    /// A key path; `nil` without objects.
    var from: RecipeWord?
    var through: RecipeWord?
    /// Source objects that fulfil a condition, in place of a path.
    var fetched: RecipeWord?
    var condition: Value?
  }

  struct Child: Sendable {
    var destination: RecipeWord
    var relationship: RecipeWord
    var each: Value?
    var attributes: [Attribute]
    var children: [Child]
  }

  struct Mapping: Sendable {
    var range: Range<Int>
    var name: RecipeWord?
    var source: RecipeWord?
    var destination: RecipeWord?
    var kind: EntityMapping.Kind?
    /// Whether objects go on purpose: all of a mapping without destination, else those that the
    /// condition leaves out. `nil` where nothing is said.
    var isDeletion: Bool?
    var condition: Value?
    var distinct: Value?
    var attributes: [Attribute]
    var relationships: [Relationship]
    var children: [Child]
    var policy: String?
    var userInfo: [String: PropertyListValue]
    /// Further mappings that a policy's class would make.
    var also: [Mapping]
  }

  var from: RecipeWord?
  var to: RecipeWord?
  var mappings: [Mapping]
  /// What stands in for classes, by their names.
  var policies: [(name: RecipeWord, mapping: Mapping)]
  /// Source name to destination name: `Entity` or `Entity.property`.
  var renames: [(from: RecipeWord, to: RecipeWord)]
  var userInfo: [String: PropertyListValue]
}

extension JSON5 {
  /// The value without its places.
  var propertyList: PropertyListValue {
    switch kind {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .number(let value): .real(value)
    case .string(let text, _): .string(text)
    case .array(let elements): .array(elements.map(\.propertyList))
    case .object(let members):
      .dictionary(Dictionary(first: members.map { ($0.key, $0.value.propertyList) }))
    }
  }

  /// Every string in the value that is no key, in the order of the text.
  var strings: [String] {
    switch kind {
    case .string(let text, _): [text]
    case .array(let elements): elements.flatMap(\.strings)
    case .object(let members): members.flatMap(\.value.strings)
    default: []
    }
  }
}
