# A base for deploy/Dockerfile where no image registry can be reached: this machine's Node and npm, on Debian.
FROM troupe-base:bookworm
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
ARG REGISTRY
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && npm config set --location=global registry "$REGISTRY"
