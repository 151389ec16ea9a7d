import Files
import ManagedStore

/// The demo's models cut down to those that a chain of an inferred and a written step goes through.
public enum DemoVersions {
  /// Leaves versions 1 and 2, adds 5, which only a recipe leads to, and writes the recipes
  /// `one.json5` (1 to 2) and `two.json5` (2 to 5) into the folder.
  ///
  /// - Parameter models: the demo's `Recipes.xcdatamodeld`.
  public static func prepare(_ models: String, recipesIn folder: String) throws {
    for version in ["3", "4"] { FileSystem.removeTree(models + "/Recipes \(version).xcdatamodel") }
    let second = String(
      decoding: try FileSystem.read(models + "/Recipes 2.xcdatamodel/contents"), as: UTF8.self)
    let fifth = second.replacing(
      "defaultValueString=\"4\" elementID=\"serves\"", with: "optional=\"YES\""
    ).replacing(
      "name=\"servings\" attributeType=\"Integer 16\"",
      with: "name=\"servings\" attributeType=\"String\"")
    try FileSystem.makeDirectory(models + "/Recipes 5.xcdatamodel")
    try FileSystem.write(Array(fifth.utf8), to: models + "/Recipes 5.xcdatamodel/contents")
    let one = """
      { "from": "Recipes", "to": "Recipes 2", "entityMappings": [
        { "source": "Draft", "destination": "Draft", "attributes": { "title": "upper(title)" } } ] }
      """
    let two = """
      { "from": "Recipes 2", "to": "Recipes 5", "entityMappings": [
        { "source": "Recipe", "destination": "Recipe",
          "attributes": { "servings": "CAST(servings AS TEXT)" } } ] }
      """
    try FileSystem.write(Array(one.utf8), to: folder + "/one.json5")
    try FileSystem.write(Array(two.utf8), to: folder + "/two.json5")
  }
}
