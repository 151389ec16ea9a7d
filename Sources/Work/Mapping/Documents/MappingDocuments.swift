import Files
import ManagedModel

/// The mapping models and recipes that a migration was given.
public struct MappingDocuments: Sendable, Equatable {
  /// Mapping models that Xcode made.
  public private(set) var models: [MappingModelDocument] = []
  /// Recipes, those with nothing but stand-ins for policy classes among them.
  public private(set) var recipes: [Recipe] = []

  /// Whether one was named by itself, and not found in a folder: it is meant to be used then.
  private var isNamed = false

  /// None.
  public init() {}

  /// Reads files: .cdm and .xcmappingmodel by their names, everything else as a recipe. Of a folder
  /// all mapping models and recipes directly in it are read, and each is used for the pair of
  /// versions that it is for, if any.
  ///
  /// - Throws: ``CoreDataError`` for a file that cannot be read, with the place of the mistake;
  ///   usage for a folder with none in it.
  public init(paths: [String]) throws {
    for path in paths {
      let name = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
      if FileSystem.isDirectory(name), !Self.isModel(name) {
        try read(folder: name)
        continue
      }
      isNamed = true
      if Self.isModel(name) {
        models.append(try MappingModelDocument(path: name))
      } else {
        recipes.append(try Recipe(path: name))
      }
    }
  }

  private static func isModel(_ path: String) -> Bool {
    [".cdm", ".xcmappingmodel", ".xml"].contains { path.lowercased().hasSuffix($0) }
  }

  private mutating func read(folder: String) throws {
    let before = models.count + recipes.count
    for name in try FileSystem.list(folder).sorted() where !name.hasPrefix(".") {
      let path = folder + "/" + name
      let small = name.lowercased()
      if small.hasSuffix(".cdm") || small.hasSuffix(".xcmappingmodel") {
        models.append(try MappingModelDocument(path: path))
      } else if small.hasSuffix(".json5") || small.hasSuffix(".json"), FileSystem.isFile(path),
        Recipe.isLikely(try FileSystem.read(path, limit: RecipeReader.maximumLength))
      {
        recipes.append(try Recipe(path: path))
      }
    }
    guard models.count + recipes.count > before else {
      throw CoreDataError(
        .usage, "no mapping model or recipe is in the folder", path: folder,
        hint: "Name a folder with .cdm, .xcmappingmodel or .json5 files directly in it.")
    }
  }

  /// Adds a recipe.
  public mutating func add(_ recipe: Recipe) {
    recipes.append(recipe)
    isNamed = true
  }

  /// Adds a mapping model.
  public mutating func add(_ model: MappingModelDocument) {
    models.append(model)
    isNamed = true
  }

  /// Has each used for the pair of versions that it is for, if any, as those found in a folder are.
  public mutating func useWhereFitting() { isNamed = false }

  /// Whether there are none.
  public var isEmpty: Bool { models.isEmpty && recipes.isEmpty }

  /// The mapping that is written down for exactly this pair of versions, with what recipes say
  /// stands in for its policy classes; `nil` where none is.
  ///
  /// An app may have several mapping models for one pair, which it runs one after the other into
  /// one new store so that less is in memory at once: those are one mapping here.
  ///
  /// - Throws: ``CoreDataError``: usage where two documents for the pair say what becomes of the
  ///   same objects, or one is wrong.
  public func mapping(
    from source: Model, to destination: Model, names: (from: String, to: String)
  ) throws -> MappingModel? {
    var found: (mapping: MappingModel, path: String)?
    func take(_ mapping: MappingModel?, _ path: String) throws {
      guard let mapping else { return }
      if let earlier = found {
        if let both = earlier.mapping.followed(by: mapping) {
          found = (both, earlier.path)
          return
        }
        throw CoreDataError(
          .usage, "two mappings are for the same pair of versions: \(earlier.path) and \(path)",
          path: path, hint: "Give one of them.")
      }
      found = (mapping, path)
    }
    for model in models {
      try take(try model.mapping(from: source, to: destination), model.path)
    }
    for recipe in recipes where recipe.isFor != nil {
      try take(try recipe.mapping(from: source, to: destination, names: names), recipe.path)
    }
    guard var mapping = found?.mapping else { return nil }
    for recipe in recipes { try recipe.standIn(in: &mapping, from: source, to: destination) }
    return mapping
  }

  /// Why no document is for a pair of versions, for a person who gave some.
  package func misfit(
    from source: Model, to destination: Model, names: (from: String, to: String)
  ) -> CoreDataError? {
    guard isNamed, let path = models.first?.path ?? recipes.first(where: { $0.isFor != nil })?.path
    else {
      return nil
    }
    let reason = models.compactMap { $0.misfit(from: source, to: destination) }.first
    return CoreDataError(
      .refused, code: .migrationMissingMappingModel,
      "the mapping is not for the step from “\(names.from)” to “\(names.to)”"
        + (reason.map { ": \($0)" } ?? ""), path: path,
      advice:
        "Give the mapping of these two versions, or the versions in between with \(.versions).")
  }
}

extension MappingModel {
  /// This mapping model and, in a second pass, another; `nil` where both take or make the same, or
  /// one was not made by Xcode.
  fileprivate func followed(by other: MappingModel) -> MappingModel? {
    guard kind == .mapping, other.kind == .mapping else { return nil }
    let all = entityMappings + other.entityMappings
    for property in [\EntityMapping.source, \.destination] {
      let names = Set(entityMappings.compactMap { $0[keyPath: property] })
      guard names.isDisjoint(with: other.entityMappings.compactMap { $0[keyPath: property] }) else {
        return nil
      }
    }
    guard Set(all.map(\.name)).count == all.count else { return nil }
    return MappingModel(
      kind: .mapping,
      entityMappings: all.filter { $0.kind != .remove } + all.filter { $0.kind == .remove },
      userInfo: userInfo.merging(other.userInfo) { first, _ in first })
  }
}
