//! The description of the API, OpenAPI 3.1, built from the table of its acts and their types: the text of `openapi.json`.

use agon_api::Problem;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{ACTS, Gives, Operation, Sends};
use crate::rights::Verb;
use crate::routes::Method;

pub fn description() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    let mut schemas = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    let refused = schemas.subschema_for::<Problem>().to_value();
    for act in ACTS {
        let described = operation(act, &mut schemas, &refused);
        let path = paths.entry(act.route.path).or_insert_with(|| json!({}));
        path[method(act.route.method)] = described;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Agon: a contest",
            "version": "1",
            "description": "A contest's API for programs. Within version 1 names stay and keep their meaning; fields may be added, \
                so ignore those that you do not know. Times are milliseconds since 1970 (UTC); seats, maps and steps count from 1; \
                seeds are strings. An account may send 600 requests a minute.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas.take_definitions(true),
            "securitySchemes": { "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token made on the page `/account` of the contest.",
            } },
        },
    })
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "get",
        Method::Post => "post",
        Method::Put => "put",
        Method::Delete => "delete",
    }
}

fn operation(act: &Operation, schemas: &mut schemars::SchemaGenerator, refused: &Value) -> Value {
    let mut parameters = Vec::new();
    if act.route.path.contains("{id}") {
        let number = json!({ "type": "integer", "format": "int64" });
        parameters.push(json!({ "name": "id", "in": "path", "required": true, "schema": number }));
    }
    if let Some(shape) = act.query {
        parameters.extend(of_query(shape(schemas).to_value(), schemas));
    }
    let status = if matches!(act.gives, Gives::Begun(_)) { "202" } else { "200" };
    let (kind, shape) = match act.gives {
        Gives::Json(shape) | Gives::Begun(shape) => ("application/json", shape(schemas).to_value()),
        Gives::Description => ("application/json", json!({ "type": "object" })),
        Gives::Bytes => ("application/octet-stream", json!({})),
    };
    let mut described = json!({
        "summary": act.about,
        "responses": {
            status: { "description": "Done.", "content": { kind: { "schema": shape } } },
            "default": {
                "description": "It cannot be done; `detail` says why, and what to do.",
                "content": { "application/problem+json": { "schema": refused } },
            },
        },
    });
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    let sent = match act.sends {
        Sends::Nothing => None,
        Sends::Json(shape) => Some(json!({ "application/json": { "schema": shape(schemas).to_value() } })),
        Sends::File => Some(json!({ "application/octet-stream": {} })),
    };
    if let Some(content) = sent {
        described["requestBody"] = json!({ "required": true, "content": content });
    }
    if !matches!(act.route.verb, Verb::See | Verb::Enter) {
        described["security"] = json!([{ "token": [] }]);
    }
    described
}

/// The fields of an object as parameters of an address. Its schema is among the definitions, and serves only this.
fn of_query(reference: Value, schemas: &mut schemars::SchemaGenerator) -> Vec<Value> {
    let name = reference["$ref"].as_str().and_then(|path| path.rsplit('/').next()).unwrap_or_default();
    let Some(object) = schemas.definitions_mut().remove(name) else { return Vec::new() };
    let required: Vec<&str> =
        object["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = object["properties"].as_object().into_iter().flatten();
    fields
        .map(|(name, schema)| {
            let mut schema = schema.clone();
            let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
            let mut parameter =
                json!({ "name": name, "in": "query", "required": required.contains(&name.as_str()), "schema": schema });
            if let Some(about) = about {
                parameter["description"] = about;
            }
            parameter
        })
        .collect()
}
