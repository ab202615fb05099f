import { json, type WrittenExport } from './written-exports.js';

/** OpenAPI 3 and Swagger 2 documents. */
export const API_EXPORTS: readonly WrittenExport[] = [
  {
    what: 'OpenAPI 3.0 as YAML',
    format: 'openapi3',
    text: `openapi: 3.0.3
info: { title: Shop, version: '1' }
servers:
  - url: https://{region}.shop.example/v1/
    variables: { region: { default: eu } }
tags: [{ name: orders, description: All about orders }]
security: [{ token: [] }]
paths:
  /orders/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: integer }, example: 7 }
    get:
      tags: [orders]
      summary: Read an order
      parameters:
        - { name: expand, in: query, schema: { type: string, enum: [items, none] } }
        - { name: limit, in: query, required: true, schema: { type: integer, default: 10 } }
        - { name: X-Trace, in: header, required: true, schema: { type: string } }
    put:
      tags: [orders]
      summary: Change an order
      requestBody:
        content:
          application/json: { schema: { $ref: '#/components/schemas/Order' } }
components:
  securitySchemes: { token: { type: http, scheme: bearer } }
  schemas:
    Order:
      type: object
      properties:
        id: { type: integer, readOnly: true }
        note: { type: string, example: hello }
        parent: { $ref: '#/components/schemas/Order' }
`,
    requests: ['GET {{baseUrl}}/orders/7?limit=10', 'PUT {{baseUrl}}/orders/7'],
    variables: { baseUrl: 'https://{{region}}.shop.example/v1', region: 'eu', bearerToken: '' },
  },
  {
    what: 'OpenAPI 3.1 as JSON, with references to files and addresses',
    format: 'openapi3',
    text: json({
      openapi: '3.1.0',
      info: { title: 'Files', version: '1' },
      servers: [{ url: 'https://files.example' }, { url: 'https://other.example' }],
      paths: {
        '/files': {
          post: {
            operationId: 'upload',
            requestBody: {
              content: {
                'multipart/form-data': {
                  schema: {
                    type: 'object',
                    properties: { title: { type: 'string' }, file: { type: 'string', format: 'binary' } },
                  },
                },
              },
            },
          },
        },
        '/meta': {
          post: { requestBody: { content: { 'application/json': { schema: { $ref: './meta.json#/Meta' } } } } },
        },
        '/far': { $ref: 'https://files.example/paths.json' },
      },
      webhooks: { changed: {} },
    }),
    requests: ['POST {{baseUrl}}/files', 'POST {{baseUrl}}/meta'],
    variables: { baseUrl: 'https://files.example' },
    warns: ['$ref', '$ref', 'webhooks'],
  },
  {
    what: 'OpenAPI 3.0 with OAuth 2.0, cookies, and schemas that contain each other',
    format: 'openapi3',
    text: json({
      openapi: '3.0.0',
      info: { title: 'Loop', version: '1' },
      servers: [{ url: '/api' }],
      paths: {
        '/a.{ext}': {
          post: {
            parameters: [{ name: 'session', in: 'cookie', required: true, schema: { type: 'string', default: 's1' } }],
            security: [{ login: ['read', 'write'] }],
            requestBody: { $ref: '#/components/requestBodies/A' },
          },
        },
      },
      components: {
        requestBodies: { A: { content: { 'application/json': { schema: { $ref: '#/components/schemas/A' } } } } },
        schemas: {
          A: { type: 'object', properties: { b: { type: 'array', items: { $ref: '#/components/schemas/B' } } } },
          B: {
            allOf: [{ $ref: '#/components/schemas/A' }, { properties: { when: { type: 'string', format: 'date' } } }],
          },
        },
        securitySchemes: {
          login: {
            type: 'oauth2',
            flows: {
              authorizationCode: {
                authorizationUrl: 'https://login.example/a',
                tokenUrl: 'https://login.example/t',
                scopes: {},
              },
            },
          },
        },
      },
    }),
    requests: ['POST {{baseUrl}}/a.{{ext}}'],
    variables: { baseUrl: '/api', clientId: '', clientSecret: '' },
    warns: ['servers'],
  },
  {
    what: 'Swagger 2 as YAML',
    format: 'swagger2',
    text: `swagger: "2.0"
info: {title: Pets, version: "1"}
host: pets.example
basePath: /v2
schemes: [http, https]
consumes: [application/json]
securityDefinitions: {key: {type: apiKey, name: X-Key, in: header}}
security: [{key: []}]
paths:
  /pets:
    get: {tags: [pets], summary: List, parameters: [{name: tags, in: query, type: array, items: {type: string, default: dog}, required: true}]}
    post: {tags: [pets], summary: Add, parameters: [{in: body, name: body, schema: {$ref: '#/definitions/Pet'}}]}
definitions: {Pet: {type: object, properties: {name: {type: string, example: rex}}}}
`,
    requests: ['GET {{baseUrl}}/pets?tags=dog', 'POST {{baseUrl}}/pets'],
    variables: { baseUrl: 'https://pets.example/v2', apiKey: '' },
  },
  {
    what: 'Swagger 2 with a form',
    format: 'swagger2',
    text: json({
      swagger: '2.0',
      info: { title: 'Forms', version: '1' },
      host: 'forms.example',
      paths: {
        '/upload': {
          post: {
            consumes: ['multipart/form-data'],
            parameters: [
              { name: 'file', in: 'formData', type: 'file' },
              { name: 'note', in: 'formData', type: 'string' },
            ],
          },
        },
        '/login': { post: { parameters: [{ name: 'user', in: 'formData', type: 'string', default: 'ada' }] } },
      },
    }),
    requests: ['POST {{baseUrl}}/upload', 'POST {{baseUrl}}/login'],
    variables: { baseUrl: 'https://forms.example' },
  },
  {
    what: 'Swagger 2 without a host, with an implicit login',
    format: 'swagger2',
    text: json({
      swagger: '2.0',
      info: { title: 'Old', version: '1' },
      basePath: '/api/',
      securityDefinitions: { o: { type: 'oauth2', flow: 'implicit', authorizationUrl: 'https://x.example' } },
      paths: { '/x': { get: { security: [{ o: [] }] }, head: {} } },
    }),
    requests: ['GET {{baseUrl}}/x', 'HEAD {{baseUrl}}/x'],
    variables: { baseUrl: '/api' },
    warns: ['oauth2', 'host'],
  },
];
