import Comparison
import ManagedModel
import ManagedStore

/// Keeps the report of a merge while it is under way: what is named in it is read from both stores as they are.
final class MergeTelling {
  var report: MergeReport
  private let stores: MergedStores
  private let isCancelled: () -> Bool
  /// One-to-ones that were decided.
  private var edges: Set<Set<String>> = []
  private var sides: [String: (old: ObjectSide, new: ObjectSide)] = [:]
  /// What is read of a file of external data: enough to see what it is.
  private static let fileLimit = 4096

  init(_ report: MergeReport, _ stores: MergedStores, isCancelled: @escaping () -> Bool) {
    (self.report, self.stores, self.isCancelled) = (report, stores, isCancelled)
  }

  /// - Throws: ``CoreDataError`` of kind cancelled.
  func check() throws {
    if isCancelled() { throw CoreDataError(.cancelled, "cancelled") }
  }

  /// Whether a link between two objects was decided.
  func isDecided(edge: Set<String>) -> Bool { edges.contains(edge) }

  /// Whether a link between two objects is decided for the first time.
  func isFirst(edge: Set<String>) -> Bool { edges.insert(edge).inserted }

  private func sides(of entity: MergedEntity) throws -> (old: ObjectSide, new: ObjectSide) {
    if let known = sides[entity.name] { return known }
    let made = (
      old: try ObjectSide(stores.old, entity.old, fileLimit: Self.fileLimit),
      new: try ObjectSide(stores.new, entity.new, fileLimit: Self.fileLimit)
    )
    sides[entity.name] = made
    return made
  }

  /// Notes that both stores changed some properties of an object.
  func conflict(
    _ names: [String], of entity: MergedEntity, a: Int64, r: Int64, _ winner: MergeReport.Winner
  ) throws {
    guard report.conflictCount < MergeReport.mostConflicts else {
      report.conflictCount += 1
      if winner == .undecided { report.undecided += 1 }
      return
    }
    if let change = try change(names, of: entity, a: a, r: r) {
      report.add(MergeReport.Conflict(change: change, winner: winner))
    }
  }

  /// Notes that values of the older store are not in the result.
  ///
  /// - Parameter r: the object that has others in their place; `nil` where it has none.
  func lose(
    _ names: [String], of entity: MergedEntity, a: Int64, r: Int64?, _ reason: MergeReport.Reason
  ) throws {
    guard !names.isEmpty, let change = try change(names, of: entity, a: a, r: r) else { return }
    report.losses.append(MergeReport.Loss(change: change, reason: reason))
  }

  /// Notes that a link of the newer store gave way to one of the older store.
  func loseNew(_ name: String, of entity: MergedEntity, r: Int64) throws {
    let side = try sides(of: entity).new
    guard let object = try side.object(r) else { return }
    var change = try side.change(.delete, object)
    change.kind = .update
    change.b = change.a
    change.a = nil
    change.attributes = []
    change.relationships.removeAll { $0.name != name }
    report.losses.append(MergeReport.Loss(change: change, reason: .oneToOne))
  }

  /// Notes that a reference which counted as the older store's is the newer store's after all.
  func keepNew(_ name: String, of entity: MergedEntity, r: Int64) {
    report.keepNew(name, of: entity.name, r)
  }

  /// Notes that an object of the older store is not in the result.
  func leaveOut(_ entity: MergedEntity, _ a: Int64, _ reason: MergeReport.Reason) throws {
    let side = try sides(of: entity).old
    guard let object = try side.object(a) else { return }
    report.losses.append(
      MergeReport.Loss(change: try side.change(.delete, object), reason: reason))
  }

  /// Some properties of an object, with the value that the older store has and the one that the newer store has.
  private func change(
    _ names: [String], of entity: MergedEntity, a: Int64, r: Int64?
  ) throws -> ObjectChange? {
    let (old, new) = try sides(of: entity)
    guard let object = try old.object(a) else { return nil }
    var change = try old.change(.delete, object)
    var other: ObjectChange?
    if let r, let there = try new.object(r) { other = try new.change(.insert, there) }
    change.kind = .update
    change.b = other?.b
    let wanted = Set(names)
    change.attributes.removeAll { !wanted.contains($0.path.joined(separator: ".")) }
    change.relationships.removeAll { !wanted.contains($0.name) }
    for attribute in other?.attributes ?? []
    where wanted.contains(attribute.path.joined(separator: ".")) {
      if let index = change.attributes.firstIndex(where: { $0.path == attribute.path }) {
        change.attributes[index].new = attribute.new
      } else {
        change.attributes.append(attribute)
      }
    }
    for related in other?.relationships ?? [] where wanted.contains(related.name) {
      if let index = change.relationships.firstIndex(where: { $0.name == related.name }) {
        change.relationships[index].added = related.added
      } else {
        change.relationships.append(related)
      }
    }
    return change
  }
}
