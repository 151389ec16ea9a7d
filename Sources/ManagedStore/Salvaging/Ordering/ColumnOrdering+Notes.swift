extension ColumnOrdering {
  private static let mostListed = 12

  /// What a person should know of columns that are told by their values, as sentences.
  static func notes(on orders: [String: Order]) -> [String] {
    orders.sorted { $0.key < $1.key }.compactMap { table, order in
      guard !order.doubtful.isEmpty else { return nil }
      if order.isUnfit {
        return
          "What \(table) was made of is gone, and its rows do not fit the model: their columns were taken in the order of a new store. Do not rely on their values."
      }
      let names = order.doubtful.prefix(mostListed).map { column in
        let (entity, name) = column.content.property
        return entity + "." + name + (column.content.isOrder ? " (order)" : "")
      }
      let rest = order.doubtful.count > mostListed ? " …" : ""
      return
        "What \(table) was made of is gone. Its rows do not tell these columns apart, whose values may stand for one another: \(names.joined(separator: ", "))\(rest). Look at them before you rely on them."
    }
  }
}

extension StoreSchema.Table {
  /// CREATE TABLE with the columns in the order that was found; in that of a new store where none was.
  func sql(orderedBy order: ColumnOrdering.Order?) -> String {
    guard let order else { return sql }
    var table = self
    table.columns = order.columns
    return table.sql
  }
}
