# The service with its page, without compilers: all dependencies come as wheels.
# docker build -t curiograph .
# docker run -p 127.0.0.1:8000:8000 -e CURIOGRAPH_TOKEN=... -v "$PWD/data:/data:ro" curiograph
FROM python:3.11.11-slim-bookworm

RUN useradd --system --uid 10001 --create-home curiograph \
    && mkdir -p /data /opt/curiograph /var/cache/curiograph \
    && chown curiograph: /opt/curiograph /var/cache/curiograph

COPY pyproject.toml constraints.txt README.md LICENSE /build/
COPY src /build/src

USER curiograph
WORKDIR /home/curiograph
ENV NUMBA_CACHE_DIR=/var/cache/curiograph \
    PATH=/opt/curiograph/bin:$PATH \
    PYTHONUNBUFFERED=1

RUN python -m venv /opt/curiograph
RUN /opt/curiograph/bin/python -m pip install --no-cache-dir --only-binary=:all: --constraint /build/constraints.txt "/build[web]"
# Compile the kernels into the image; on a processor of another type they are compiled again at the first start.
RUN /opt/curiograph/bin/curiograph warmup

# Graphs and prepared nodes (.safetensors).
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]

ENTRYPOINT ["curiograph"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
