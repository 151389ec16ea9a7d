import ManagedModel

/// Compares the models that a mapping model was made for with two models at hand.
struct MappingFit {
  private let mapping: MappingSource
  private let source: Side
  private let destination: Side

  private struct Side {
    let model: Model
    let word: String
    var hashes: [String: VersionHash] = [:]

    init(_ model: Model, _ word: String, hashed: Bool) {
      self.model = model
      self.word = word
      if hashed { hashes = model.versionHashes }
    }
  }

  init(_ mapping: MappingSource, from source: Model, to destination: Model) {
    self.mapping = mapping
    self.source = Side(source, "source", hashed: mapping.origin != .names)
    self.destination = Side(destination, "destination", hashed: mapping.origin != .names)
  }

  /// Why they are others; `nil` where they are the same.
  func misfit() -> String? {
    switch mapping.origin {
    case .hashes:
      return first { entity in
        Self.differs(entity.source, entity.sourceHash, source)
          ?? Self.differs(entity.destination, entity.destinationHash, destination)
      }
    case .models(let before, let after):
      let (hashesBefore, hashesAfter) = (before.model.versionHashes, after.model.versionHashes)
      let misfit = first { entity in
        Self.differs(entity.source, entity.source.flatMap { hashesBefore[$0] }, source)
          ?? Self.differs(
            entity.destination, entity.destination.flatMap { hashesAfter[$0] }, destination)
      }
      if misfit != nil, !before.isComplete || !after.isComplete { return namesMisfit() }
      return misfit
    case .names: return namesMisfit()
    }
  }

  private func first(_ misfit: (MappingSource.Entity) -> String?) -> String? {
    mapping.entityMappings.lazy.compactMap(misfit).first
  }

  private static func differs(_ entity: String?, _ hash: VersionHash?, _ side: Side) -> String? {
    guard let entity else { return nil }
    guard let actual = side.hashes[entity] else { return missing(entity, side) }
    guard actual != hash else { return nil }
    return "its \(side.word) entity “\(entity)” has another version hash in this model"
  }

  private static func missing(_ entity: String, _ side: Side) -> String {
    side.model.unknownName(ofEntity: entity, calling: "the \(side.word) model").message
  }

  private func namesMisfit() -> String? {
    first { entity in
      if let name = entity.source, source.model.entity(named: name) == nil {
        return Self.missing(name, source)
      }
      guard let name = entity.destination else { return nil }
      guard destination.model.entity(named: name) != nil else {
        return Self.missing(name, destination)
      }
      return unknown((entity.attributes + entity.relationships).map(\.name), of: name, destination)
        ?? unknownSource(of: entity)
    }
  }

  /// The first name behind `$source.` that the source entity does not have.
  private func unknownSource(of entity: MappingSource.Entity) -> String? {
    guard let name = entity.source else { return nil }
    let used = (entity.attributes + entity.relationships).compactMap { property -> String? in
      guard case .expression(let expression) = property.value else { return nil }
      return expression.sourcePath?.first
    }
    return unknown(used, of: name, source)
  }

  private func unknown(_ names: [String], of entity: String, _ side: Side) -> String? {
    let known = Set(side.model.names(of: .property, in: entity))
    return names.first { !known.contains($0) }.map {
      side.model.unknownName(
        .property, $0, of: entity, calling: "the \(side.word) entity \(entity)"
      ).message
    }
  }
}

/// Which versions each document can be for.
///
/// A search through a hundred versions asks for thousands of pairs: what is said of the versions one by one
/// leaves a few of them.
package struct DocumentEnds {
  /// Names of versions that a document leads from, and of those that it leads to.
  private var ends: [(from: Set<String>, to: Set<String>)] = []

  /// - Parameter versions: whole models with their hashes, by name.
  package init(
    of documents: MappingDocuments,
    among versions: [String: (model: Model, hashes: [String: VersionHash])]
  ) {
    func names(_ fits: (String, Model, [String: VersionHash]) -> Bool) -> Set<String> {
      Set(versions.filter { fits($0.key, $0.value.model, $0.value.hashes) }.keys)
    }
    for document in documents.models {
      let (before, after) = document.source.stated
      ends.append((names { before.fit($2) }, names { after.fit($2) }))
    }
    for recipe in documents.recipes where recipe.isFor != nil {
      ends.append(
        (
          names { recipe.leads(from: $1, called: $0, $2) },
          names { recipe.leads(to: $1, called: $0, $2) }
        ))
    }
  }

  /// Whether some document can be for a pair of versions; whether it is, is asked of the document.
  package func canLead(from source: String, to destination: String) -> Bool {
    ends.contains { $0.from.contains(source) && $0.to.contains(destination) }
  }
}

extension MappingSource {
  /// The hashes that one side of a mapping model states; `nil` where names decide.
  struct Stated {
    var hashes: [(entity: String, hash: VersionHash?)]?

    func fit(_ version: [String: VersionHash]) -> Bool {
      hashes?.allSatisfy { $0.hash != nil && version[$0.entity] == $0.hash } ?? true
    }
  }

  /// What it states of the entities that it maps, on both sides.
  var stated: (source: Stated, destination: Stated) {
    switch origin {
    case .hashes:
      return (
        Stated(
          hashes: entityMappings.compactMap { entity in
            entity.source.map { ($0, entity.sourceHash) }
          }),
        Stated(
          hashes: entityMappings.compactMap { entity in
            entity.destination.map { ($0, entity.destinationHash) }
          })
      )
    case .models(let before, let after) where before.isComplete && after.isComplete:
      let (old, new) = (before.model.versionHashes, after.model.versionHashes)
      return (
        Stated(hashes: entityMappings.compactMap(\.source).map { ($0, old[$0]) }),
        Stated(hashes: entityMappings.compactMap(\.destination).map { ($0, new[$0]) })
      )
    default: return (Stated(hashes: nil), Stated(hashes: nil))
    }
  }
}

extension Expression {
  /// The names of a key path on `$source` and nothing else; empty for the object itself.
  ///
  /// A message that is a key path is the same as a step: `FUNCTION($source, "name")`.
  var sourcePath: [String]? {
    let (base, step): (Expression, String)
    switch self {
    case .variable(Expression.sourceName): return []
    case .keyPath(let path, of: let receiver?): (base, step) = (receiver, path)
    case .function(let name, receiver: let receiver?, let arguments):
      guard let path = Expression.path(name, arguments) else { return nil }
      (base, step) = (receiver, path)
    default: return nil
    }
    guard let names = base.sourcePath, !names.contains(where: { $0.hasPrefix("@") }) else {
      return nil
    }
    return names + step.split(separator: ".").map(String.init)
  }
}
