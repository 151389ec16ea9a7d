import ManagedModel
import ManagedStore

/// Compares the models that a mapping model was made for with two models at hand.
struct MappingFit {
  private let mapping: MappingSource
  private let source: Side
  private let destination: Side

  private struct Side {
    let model: Model
    let hashes: [String: VersionHash]
    let word: String

    init(_ model: Model, _ word: String) {
      self.model = model
      self.word = word
      hashes = model.versionHashes
    }
  }

  init(_ mapping: MappingSource, from source: Model, to destination: Model) {
    self.mapping = mapping
    self.source = Side(source, "source")
    self.destination = Side(destination, "destination")
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

extension Expression {
  /// The names of a key path on `$source` and nothing else; empty for the object itself.
  ///
  /// A message that is a key path is the same as a step: `FUNCTION($source, "name")`.
  var sourcePath: [String]? {
    let (base, step): (Expression, String)
    switch self {
    case .variable(ExpressionScope.source): return []
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
