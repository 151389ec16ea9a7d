import ManagedModel
import ManagedStore
import Migration

/// Keeps a repair from destroying what brings deleted objects back whole: links that still name them, rows of
/// join tables, their external files, and the free pages that they stand on.
struct DeletionGuard {
  let plan: RepairPlan
  let options: RepairOptions

  /// Refuses where deleted objects can still be read that the repair takes something from.
  ///
  /// The store is only looked through where doctor found signs of deletions, and the plan has a repair that
  /// matters to them. Written elsewhere, the result leaves the store as it is.
  ///
  /// - Throws: ``CoreDataError`` of kind refused, with the command that restores the objects; or when cancelled.
  func check(isCancelled: @escaping () -> Bool) throws {
    let kinds = plan.kinds.filter(\.takesFromDeletedObjects)
    guard !options.isForced, options.output == nil, !kinds.isEmpty,
      plan.before.findings.contains(where: { $0.kind == .deletions })
    else { return }
    let path = plan.before.path
    guard let undeletion = try undeletion(isCancelled) else { return }
    let entities = concerned(in: undeletion.model)
    let found = undeletion.entities.filter { $0.deleted > 0 && entities.contains($0.name) }
    let count = found.reduce(0) { $0 + $1.deleted }
    guard count > 0 else { return }
    let names = found.prefix(3).map { "\($0.name) \($0.deleted)" }.joined(separator: ", ")
    let faults = FindingKind.allCases.filter(kinds.contains).map(\.rawValue)
      .joined(separator: ", ")
    let command: Advice =
      Remedy.undelete.command(for: .deletions, StorePlace(path: path, model: options.modelName))
      ?? ""
    throw CoreDataError(
      .refused,
      "\(NumberText.counted(count, "deleted object")) can still be read (\(names)\(found.count > 3 ? " …" : "")), and this repair (\(faults)) would destroy what restores them with their links and files",
      path: path,
      advice:
        "Look at them first: \(command). To restore them into a new store, add \(.output, "FILE"). To repair without them, use \(.force)."
    )
  }

  private func undeletion(_ isCancelled: @escaping () -> Bool) throws -> Undeletion? {
    do {
      return try Undeletion(
        of: plan.before.path, model: options.model, isCancelled: isCancelled)
    } catch let error as CoreDataError where error.kind != .cancelled {
      // Without a model nothing is found; what the repair then does needs none either.
      return nil
    }
  }

  /// Entities whose deleted objects the planned repairs take something from.
  private func concerned(in model: Model) -> Set<String> {
    let all = Set(model.entities.map(\.name))
    return plan.faults.reduce(into: []) { entities, fault in
      guard fault.kind.takesFromDeletedObjects else { return }
      switch fault.kind {
      case .toOneDangling, .joinDangling:
        guard let holder = fault.entity, let property = fault.property,
          let link = model.relationship(named: property, of: holder)
        else {
          entities = all
          return
        }
        // A row of a join table can reference nothing at either end.
        let ends = [link.destination] + (fault.kind == .joinDangling ? [holder] : [])
        entities.formUnion(all.filter { name in ends.contains { model.isKind(name, of: $0) } })
      case .externalOrphaned:
        entities.formUnion(
          all.filter { name in
            model.storedAttributes(of: name).contains(where: \.allowsExternalBinaryDataStorage)
          })
      default: entities = all
      }
    }
  }
}

extension FindingKind {
  /// Whether mending it takes something from deleted objects that are still in the file.
  package var takesFromDeletedObjects: Bool {
    switch self {
    case .toOneDangling, .joinDangling, .externalOrphaned: true
    // The file is rewritten, without its free pages.
    default: asksForNewFile
    }
  }
}
