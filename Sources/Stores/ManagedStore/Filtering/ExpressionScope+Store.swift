import ManagedModel
import StoreTables

extension ExpressionScope {
  /// An expression over a source object of a migration, whose connection shows the one time that all
  /// statements agree on as `strata_now()`, and the content of files as `strata_content()`.
  package init(
    store: Store, entity: String, row: String = "s", schema: String = "src.",
    variables: [String: String] = [:]
  ) {
    self.init(
      layout: store.layout, entity: entity, row: row, schema: schema, variables: variables)
  }
}
