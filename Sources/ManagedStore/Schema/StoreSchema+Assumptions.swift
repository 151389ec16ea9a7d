import ManagedModel

extension StoreSchema {
  /// Where the names of columns follow rules that no store by Apple proved, as sentences.
  ///
  /// A wrong guess that puts a value of another type into a column is reported by ``StoreDrift``; these
  /// are the cases in which it might be of the same type.
  package var assumptions: [String] {
    model.entitiesInStoreOrder.compactMap { entity in
      let composites = entity.attributes.filter { $0.type == .composite && $0.isStored }
      let nested = composites.filter { $0.elements.contains { $0.type == .composite } }
      if let first = nested.first {
        return """
          \(entity.name).\(first.name) has a composite attribute within it: how Core Data names and \
          orders its columns was not checked against a store of Apple's.
          """
      }
      let toOnes = Set(
        entity.relationships.filter { !$0.isToMany && !$0.isTransient }.map { $0.name.uppercased() }
      )
      let clash = composites.flatMap(\.storage.columns).first {
        $0.attribute.type.isInteger && toOnes.contains($0.path.last?.uppercased() ?? "")
      }
      return clash.map {
        """
        \(entity.name).\($0.attribute.name) and the relationship of that name share the name of a \
        column: which of the two Core Data numbers was not checked against a store of Apple's.
        """
      }
    }
  }
}
