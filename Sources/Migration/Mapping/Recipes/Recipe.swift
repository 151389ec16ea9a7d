import Files
import JSON
import ManagedModel
import ManagedStore

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
  func leads(from model: Model, called name: String) -> Bool {
    isFor.map { Self.names($0.from, model, called: name) } ?? false
  }

  /// Whether it leads to this version.
  func leads(to model: Model, called name: String) -> Bool {
    isFor.map { Self.names($0.to, model, called: name) } ?? false
  }

  private static func names(_ reference: String, _ model: Model, called name: String) -> Bool {
    if reference == name || model.versionIdentifiers.contains(reference) { return true }
    let hashes = model.versionHashes
    return reference == Model.versionHashesDigest(of: hashes)
      || reference == Model.versionChecksum(of: hashes)
  }
}
